//@ verdict: race
//@ block: 256
//@ grid: 64
// No barrier before the first warp collects the sums.

extern "C" __global__ void shuffle_reduce(const float *in, float *out) {
    __shared__ float sums[8];
    int t = threadIdx.x;
    float v = in[blockIdx.x * 256 + t];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if ((t & 31) == 0) sums[t >> 5] = v;  // RACE
    if (t < 8) out[blockIdx.x * 8 + t] = sums[t] * 0.125f;  // RACE
}
