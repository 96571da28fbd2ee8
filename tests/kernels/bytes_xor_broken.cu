//@ verdict: race
//@ block: 256
//@ grid: 64
// Both threads of a pair write the two bytes of the pair.

extern "C" __global__ void bytes_xor(const unsigned char *in, unsigned char *out, int key) {
    int g = blockIdx.x * 256 + threadIdx.x;
    *(unsigned short *)(out + (g & ~1)) = in[g] ^ key;  // RACE
}
