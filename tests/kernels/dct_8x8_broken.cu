//@ verdict: race
//@ block: 8,8
//@ grid: 16,16
// No barrier between rows and columns.

__constant__ float basis[64];
extern "C" __global__ void dct_8x8(float *image) {
    __shared__ float tile[8][8];
    __shared__ float rows[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    int g = (blockIdx.y * 8 + y) * 128 + blockIdx.x * 8 + x;
    tile[y][x] = image[g];
    __syncthreads();
    float s = 0;
    #pragma unroll 1
    for (int k = 0; k < 8; k++) s += basis[x * 8 + k] * tile[y][k];
    rows[y][x] = s;  // RACE
    s = 0;
    #pragma unroll 1
    for (int k = 0; k < 8; k++) s += basis[y * 8 + k] * rows[k][x];  // RACE
    image[g] = s;
}
