//@ verdict: verified
//@ block: 256
//@ grid: 64
// Byte arrays, one byte a thread.

extern "C" __global__ void bytes_xor(const unsigned char *in, unsigned char *out, int key) {
    int g = blockIdx.x * 256 + threadIdx.x;
    out[g] = in[g] ^ key;
}
