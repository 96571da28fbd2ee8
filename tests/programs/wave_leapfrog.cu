//@ verdict: verified
//@ block: 128
//@ grid: 80
//@ param: n=10000
// Wave equation with three time levels; the oldest is overwritten by the newest.

extern "C" __global__ void wave_leapfrog(float *oldest, const float *middle, int n, float c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i >= n - 1) return;
    float around = middle[i - 1] - 2.0f * middle[i] + middle[i + 1];
    oldest[i] = 2.0f * middle[i] - oldest[i] + c * around;
}
