//@ verdict: race
//@ block: 256
//@ grid: 64
// The first sums are read before all lanes have filled their place.

extern "C" __global__ void warp_halving_broken(const float *in, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x, lane = t & 31;
    s[t] = in[blockIdx.x * 256 + t]; // RACE
    #pragma unroll 1
    for (int d = 16; d > 0; d >>= 1) {
        if (lane < d) s[t] += s[t + d]; // RACE
        __syncwarp();
    }
    if (lane == 0) out[blockIdx.x * 8 + (t >> 5)] = s[t];
}
