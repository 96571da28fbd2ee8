//@ verdict: verified
//@ block: 256
//@ grid: 128
//@ param: n=10000000
// A grid-stride loop over a size_t.

extern "C" __global__ void saxpy_grid_stride(float a, const float *x, float *y, size_t n) {
    size_t stride = (size_t)blockDim.x * gridDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];
}
