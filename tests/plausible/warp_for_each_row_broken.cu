//@ verdict: race
//@ block: *
//@ grid: *
// The same with one lane too many: the first element of the next row is copied by two warps.

extern "C" __global__ void warp_for_each_row_broken(const float *from, float *to, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows && lane <= columns)
        to[row * columns + lane] = from[row * columns + lane] * 2;  // RACE
}
