//@ verdict: verified
//@ block: 64
//@ grid: 64
// Words are stored, bytes are read back across threads after a barrier.

extern "C" __global__ void mixed_widths(const unsigned *in, unsigned *out) {
    __shared__ unsigned w[64];
    unsigned char *b = (unsigned char *)w;
    int t = threadIdx.x;
    w[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    out[blockIdx.x * 64 + t] = b[t] + b[t + 64] + b[t + 128] + b[t + 192];
}
