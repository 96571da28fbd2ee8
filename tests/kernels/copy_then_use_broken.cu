//@ verdict: race
//@ block: 128
//@ grid: 32
// The first copy misses the barrier.

extern "C" __global__ void copy_then_use(const float *table, int n, const float *x, float *y) {
    __shared__ float s[1024];
    if (n < 1 || n > 1024) return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = table[i];  // RACE
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int k = (int)(x[g] * n);
    k = k < 0 ? 0 : k >= n ? n - 1 : k;
    y[g] = s[k];  // RACE
}
