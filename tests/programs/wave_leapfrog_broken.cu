//@ verdict: race
//@ block: 128
//@ grid: 80
//@ param: n=10000
// Broken: the host passes the levels in another order, so the step writes the middle one.

extern "C" __global__ void wave_leapfrog_broken(const float *oldest, float *middle, int n, float c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i >= n - 1) return;
    float around = middle[i - 1] - 2.0f * middle[i] + middle[i + 1];  // RACE
    middle[i] = 2.0f * middle[i] - oldest[i] + c * around;  // RACE
}
