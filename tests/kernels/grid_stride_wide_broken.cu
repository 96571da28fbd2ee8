//@ verdict: race
//@ block: 256
//@ grid: 64
// Broken: the stride is one too small, so that a thread comes to the place of its neighbour.

extern "C" __global__ void grid_stride_wide_broken(float *y, const float *x, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x - 1)
        y[i] = x[i] * 2;  // RACE
}
