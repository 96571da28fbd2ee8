//@ verdict: race
//@ block: 256
//@ grid: 32
// The flags of a word are cleared with a stride of 31.

extern "C" __global__ void pack_flags(unsigned char *flags, unsigned *words, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned w = 0;
    #pragma unroll 1
    for (int k = 0; k < 32; k++) {
        if (flags[i * 31 + k]) w |= 1u << k;  // RACE
        flags[i * 31 + k] = 0;  // RACE
    }
    words[i] = w;
}
