//@ verdict: race
//@ block: 256
//@ grid: 64
// The index is d*t in place of 2*d*t: a thread adds to what its neighbour reads.

extern "C" __global__ void reduce_strided(const float *in, float *out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    #pragma unroll 1
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        unsigned i = d * t;
        if (i + d < blockDim.x) s[i] += s[i + d];  // RACE
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
