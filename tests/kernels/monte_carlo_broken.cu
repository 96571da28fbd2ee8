//@ verdict: race
//@ block: 256
//@ grid: 64
// No barrier between two steps of the sum.

extern "C" __global__ void monte_carlo(float *value, const float *samples, const float *strike, int paths) {
    __shared__ float sum[256];
    int t = threadIdx.x;
    float x = strike[blockIdx.x], s = 0;
    for (int i = t; i < paths; i += blockDim.x) {
        float payoff = __expf(samples[i]) - x;
        s += payoff > 0 ? payoff : 0;
    }
    sum[t] = s;
    __syncthreads();
    #pragma unroll 1
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) sum[t] += sum[t + half];  // RACE
    }
    if (t == 0) value[blockIdx.x] = sum[0] / paths;
}
