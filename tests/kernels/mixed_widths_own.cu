//@ verdict: verified
//@ block: 128
//@ grid: 64
//@ compiler: clang
// Two half-words and one byte, all within the own word.

extern "C" __global__ void mixed_widths_own(unsigned short *h, int lo, int hi) {
    int g = blockIdx.x * 128 + threadIdx.x;
    h[2 * g] = lo;
    h[2 * g + 1] = hi;
    ((unsigned char *)h)[4 * g + 3] = 7;
}
