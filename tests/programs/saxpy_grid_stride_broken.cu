//@ verdict: race
//@ block: 256
//@ grid: 128
//@ param: n=10000000
// Broken: the stride is the number of blocks, not of threads.

extern "C" __global__ void saxpy_grid_stride_broken(float a, const float *x, float *y, size_t n) {
    size_t stride = gridDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];  // RACE
}
