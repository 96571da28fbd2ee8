//@ verdict: race
//@ block: 256
//@ grid: 64
// No barrier at the end of a round.

extern "C" __global__ void reduce_modulo(const float *in, float *out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    #pragma unroll 1
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];  // RACE
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
