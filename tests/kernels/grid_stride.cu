//@ verdict: verified
//@ block: 256
//@ grid: 64
// Grid-stride loop over n elements.

extern "C" __global__ void grid_stride(int n, float *x) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        x[i] = x[i] * 2.0f + 1.0f;
}
