//@ verdict: verified-when
//@ block: 64
//@ grid: 16,600
//@ condition: covered_columns_param_1 <= gridDim.x * blockDim.x
//@ condition: 0 <= covered_columns_param_1
// The launch is given: it has threads for 1024 columns, and so the image has at most as many.

extern "C" __global__ void covered_columns(float *image, int width) {
    int x = blockIdx.x * 64 + threadIdx.x;
    if (x >= width) return;
    image[blockIdx.y * width + x] += 1.0f;  // OUTSIDE
}
