//@ verdict: verified
//@ block: 256
//@ grid: 64
// Writes an array backwards, with indices of 64 bits.

extern "C" __global__ void reverse_wide(float *y, const float *x, size_t n) {
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[n - 1 - i] = x[i];
}
