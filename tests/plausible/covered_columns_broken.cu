//@ verdict: race
//@ block: 64
//@ grid: 16,600
// Neighbours are read while they are written, at any width.

extern "C" __global__ void covered_columns_broken(float *image, int width) {
    int x = blockIdx.x * 64 + threadIdx.x;
    if (x + 1 >= width) return;
    image[blockIdx.y * width + x] = image[blockIdx.y * width + x + 1];  // RACE
}
