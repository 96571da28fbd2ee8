//@ verdict: verified
//@ block: 256
//@ grid: 64
// Grid-stride loop whose index and bound are signed numbers of 64 bits; the compiler copies its body four times.

extern "C" __global__ void grid_stride_signed(float *x, const float *y, long long n) {
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = y[i] + threadIdx.x;
}
