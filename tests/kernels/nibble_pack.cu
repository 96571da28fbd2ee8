//@ verdict: verified
//@ block: 128
//@ grid: 64
// Two nibbles are packed into one byte by one thread.

extern "C" __global__ void nibble_pack(const unsigned char *in, unsigned char *out) {
    int g = blockIdx.x * 128 + threadIdx.x;
    out[g] = in[2 * g] | (in[2 * g + 1] << 4);
}
