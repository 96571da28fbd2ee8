//@ verdict: race
//@ block: 256
//@ grid: 64
// Broken: in place, without stopping at the middle.

extern "C" __global__ void reverse_wide_broken(float *y, size_t n) {
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[n - 1 - i] = y[i];  // RACE
}
