//@ verdict: verified
//@ block: 256
//@ grid: 64
// Reduction with sequential addressing.

extern "C" __global__ void reduce_sequential(const float *in, float *out) {
    __shared__ float s[257];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    #pragma unroll 1
    for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
