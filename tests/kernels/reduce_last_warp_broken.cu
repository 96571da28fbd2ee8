//@ verdict: race
//@ block: 256
//@ grid: 64
// One of the written-out rounds lacks its barrier.

extern "C" __global__ void reduce_last_warp(const float *in, float *out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    #pragma unroll 1
    for (unsigned d = 128; d > 32; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32) s[t] += s[t + 32];
    __syncthreads();
    if (t < 16) s[t] += s[t + 16];  // RACE
    if (t < 8) s[t] += s[t + 8];  // RACE
    __syncthreads();
    if (t < 4) s[t] += s[t + 4];
    __syncthreads();
    if (t < 2) s[t] += s[t + 2];
    __syncthreads();
    if (t == 0) out[blockIdx.x] = s[0] + s[1];
}
