//@ verdict: race
//@ block: 512
//@ grid: 8
// Multipliers are stored where the pivot's column is read.

extern "C" __global__ void gauss_multipliers(float *m, float *a, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2047 - step) return;
    a[2048 * (i + step) + step] = a[2048 * (i + step + 1) + step] / a[2048 * step + step];  // RACE
}
