//@ verdict: race
//@ block: 128
//@ grid: 64
// Two threads update the same byte.

extern "C" __global__ void nibble_pack(const unsigned char *in, unsigned char *out) {
    int g = blockIdx.x * 128 + threadIdx.x;
    out[g >> 1] |= in[g] << ((g & 1) * 4);  // RACE
}
