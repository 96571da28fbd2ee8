//@ verdict: race
//@ block: 64
//@ grid: *,600
// `x > width` where `x >= width` was meant: a column too many is the first of the next row.

extern "C" __global__ void rows_of_grid_broken(float *image, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x > width) return;
    image[blockIdx.y * width + x] += 1.0f;  // RACE
}
