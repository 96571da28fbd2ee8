//@ verdict: race
//@ block: 16,16
//@ grid: 64,64
//@ compiler: clang
// No barrier before the transposed read of the tile.

extern "C" __global__ void transpose(const float *in, float *out) {
    __shared__ float tile[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 16 + ty) * 1024 + blockIdx.x * 16 + tx];  // RACE
    out[(blockIdx.x * 16 + ty) * 1024 + blockIdx.y * 16 + tx] = tile[tx][ty];  // RACE
}
