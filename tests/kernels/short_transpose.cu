//@ verdict: verified
//@ block: 32,8
//@ grid: 16,16
// 512 x 512 short values transposed through a padded tile.

extern "C" __global__ void short_transpose(short *out, const short *in) {
    __shared__ short tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    #pragma unroll 1
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * 512 + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    #pragma unroll 1
    for (int j = 0; j < 32; j += 8) out[(y + j) * 512 + x] = tile[threadIdx.x][threadIdx.y + j];
}
