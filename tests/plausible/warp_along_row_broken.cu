//@ verdict: race
//@ block: 128
//@ grid: 64
// Broken: two warps are taken for one.

extern "C" __global__ void warp_along_row_broken(const float *from, float *to, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 64;
    if (row >= rows) return;
#pragma unroll 1
    for (int column = threadIdx.x % 32; column < columns; column += 32)
        to[row * columns + column] += from[row * columns + column] * 2;  // RACE
}
