//@ verdict: verified-when
//@ block: 64
//@ grid: 16,600
//@ condition: gridDim.y * covered_columns_param_1 <= 2147483647
//@ condition: 0 <= covered_columns_param_1
// The launch is given: that its 600 rows of any width have fewer than 2^31 cells asks for less than that it covers them.

extern "C" __global__ void covered_columns(float *image, int width) {
    int x = blockIdx.x * 64 + threadIdx.x;
    if (x >= width) return;
    image[blockIdx.y * width + x] += 1.0f;  // OUTSIDE
}
