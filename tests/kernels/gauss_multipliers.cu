//@ verdict: verified
//@ block: 512
//@ grid: 8
// The multipliers of one step of an elimination, rows of 2048.

extern "C" __global__ void gauss_multipliers(float *m, float *a, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2047 - step) return;
    m[2048 * (i + step + 1) + step] = a[2048 * (i + step + 1) + step] / a[2048 * step + step];
}
