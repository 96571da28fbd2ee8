//@ verdict: race
//@ block: 128
//@ grid: 64
// Thread 32 publishes s[0] without waiting for thread 0.

extern "C" __global__ void reduce_many(unsigned n, const float *in, float *out) {
    __shared__ float s[128];
    unsigned t = threadIdx.x;
    float acc = 0.0f;
    for (unsigned i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128)
        acc += in[i];
    s[t] = acc;
    #pragma unroll 1
    for (unsigned d = 64; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[t] += s[t + d];  // RACE
    }
    if (t == 32) out[blockIdx.x] = s[0];  // RACE
}
