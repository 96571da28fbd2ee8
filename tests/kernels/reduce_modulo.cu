//@ verdict: verified
//@ block: 256
//@ grid: 64
// Reduction with interleaved addressing and a modulo test.

extern "C" __global__ void reduce_modulo(const float *in, float *out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    #pragma unroll 1
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
