//@ verdict: race
//@ block: 128
//@ grid: 64
//@ compiler: clang
// The byte falls into the next word.

extern "C" __global__ void mixed_widths_own(unsigned short *h, int lo, int hi) {
    int g = blockIdx.x * 128 + threadIdx.x;
    h[2 * g] = lo;  // RACE
    h[2 * g + 1] = hi;
    ((unsigned char *)h)[4 * g + 4] = 7;  // RACE
}
