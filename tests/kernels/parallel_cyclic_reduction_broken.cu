//@ verdict: race
//@ block: 256
//@ grid: 32
// Written before all have read.

extern "C" __global__ void parallel_cyclic_reduction(const float *ga, float *gd, int n) {
    __shared__ float a[256], d[256];
    int t = threadIdx.x, g = blockIdx.x * 256 + t;
    a[t] = ga[g];
    d[t] = gd[g];
    __syncthreads();
    for (int delta = 1; delta < n; delta *= 2) {
        int left = t - delta < 0 ? 0 : t - delta, right = t + delta >= n ? n - 1 : t + delta;
        left &= 255, right &= 255;
        float x = a[t] * a[left], y = d[t] - a[left] * d[left] - a[right] * d[right];  // RACE
        a[t] = x;  // RACE
        d[t] = y;  // RACE
        __syncthreads();
    }
    gd[g] = d[t];
}
