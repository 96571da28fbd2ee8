//@ verdict: race
//@ block: 256
//@ grid: 64
// Broken: the stride is one too small, so that a thread comes to the place of its neighbour.

extern "C" __global__ void grid_stride_signed_broken(float *x, const float *y, long long n) {
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x - 1)
        x[i] = y[i] + threadIdx.x; // RACE
}
