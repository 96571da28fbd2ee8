//@ verdict: race
//@ block: 64
//@ grid: 64
// No barrier between the word store and the byte reads.

extern "C" __global__ void mixed_widths(const unsigned *in, unsigned *out) {
    __shared__ unsigned w[64];
    unsigned char *b = (unsigned char *)w;
    int t = threadIdx.x;
    w[t] = in[blockIdx.x * 64 + t];  // RACE
    out[blockIdx.x * 64 + t] = b[t] + b[t + 64] + b[t + 128] + b[t + 192];  // RACE
}
