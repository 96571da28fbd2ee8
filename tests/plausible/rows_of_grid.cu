//@ verdict: verified-when
//@ block: 64
//@ grid: *,600
//@ condition: gridDim.y * rows_of_grid_param_1 <= 2147483647
//@ condition: 0 <= rows_of_grid_param_1
// A block for a piece of a row: the grid has as many rows as the image, and nothing else bounds them.

extern "C" __global__ void rows_of_grid(float *image, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    image[blockIdx.y * width + x] += 1.0f;  // OUTSIDE
}
