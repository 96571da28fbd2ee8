//@ verdict: verified
//@ block: 16,16
//@ grid: 64,64
// Tiled transpose of a 1024x1024 matrix, tile padded by one column.

extern "C" __global__ void transpose_pad(const float *in, float *out) {
    __shared__ float tile[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 16 + ty) * 1024 + blockIdx.x * 16 + tx];
    __syncthreads();
    out[(blockIdx.x * 16 + ty) * 1024 + blockIdx.y * 16 + tx] = tile[tx][ty];
}
