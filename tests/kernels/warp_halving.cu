//@ verdict: verified
//@ block: 256
//@ grid: 64
// Each warp sums its numbers; the lanes wait for each other by __syncwarp.

extern "C" __global__ void warp_halving(const float *in, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x, lane = t & 31;
    s[t] = in[blockIdx.x * 256 + t];
    __syncwarp();
    #pragma unroll 1
    for (int d = 16; d > 0; d >>= 1) {
        if (lane < d) s[t] += s[t + d];
        __syncwarp();
    }
    if (lane == 0) out[blockIdx.x * 8 + (t >> 5)] = s[t];
}
