//@ verdict: verified
//@ block: 256
//@ grid: 64
// A grid-stride loop with indices of 64 bits.

extern "C" __global__ void grid_stride_wide(float *y, const float *x, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[i] * 2;
}
