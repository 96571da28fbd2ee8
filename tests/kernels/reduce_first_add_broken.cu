//@ verdict: race
//@ block: 256
//@ grid: 64
//@ compiler: clang
// No barrier between the load and the first round.

extern "C" __global__ void reduce_first_add(const float *in, float *out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * 512 + t;
    s[t] = in[i] + in[i + 256];  // RACE
    for (unsigned d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];  // RACE
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
