//@ verdict: verified-when
//@ block: 128
//@ grid: 64
//@ condition: 1 <= warp_along_row_param_2 <= 2147483647
//@ condition: 1 <= warp_along_row_param_3 <= 2147483647
//@ condition: warp_along_row_param_3 * warp_along_row_param_2 <= 2147483647
//@ condition: warp_along_row_param_3 <= 1073741824
// A warp for each row, along which it goes: the compiler moves pointers on, so that where a lane is is told by where it started.

extern "C" __global__ void warp_along_row(const float *from, float *to, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
#pragma unroll 1
    for (int column = threadIdx.x % 32; column < columns; column += 32)
        to[row * columns + column] = from[row * columns + column] * 2;  // OUTSIDE
}
