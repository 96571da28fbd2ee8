//@ verdict: verified-when
//@ block: *
//@ grid: *
//@ condition: blockDim.y == 1
//@ condition: blockDim.z == 1
//@ condition: gridDim.y == 1
//@ condition: gridDim.z == 1
//@ condition: blockDim.x % 32 == 0
//@ condition: warp_for_each_row_param_3 * warp_for_each_row_param_2 <= 2147483647
//@ condition: 0 <= warp_for_each_row_param_2
//@ condition: 0 <= warp_for_each_row_param_3
// Each warp copies a row. In blocks with a part of a warp two blocks share a warp's number, and copy the same elements;
// nobody starts such blocks.

extern "C" __global__ void warp_for_each_row(const float *from, float *to, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows && lane < columns)
        to[row * columns + lane] = from[row * columns + lane] * 2;  // OUTSIDE
}
