//@ verdict: verified
//@ block: 256
//@ grid: 32
// Thirty-two byte flags to the bits of one word, then the flags are cleared.

extern "C" __global__ void pack_flags(unsigned char *flags, unsigned *words, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned w = 0;
    #pragma unroll 1
    for (int k = 0; k < 32; k++) {
        if (flags[i * 32 + k]) w |= 1u << k;
        flags[i * 32 + k] = 0;
    }
    words[i] = w;
}
