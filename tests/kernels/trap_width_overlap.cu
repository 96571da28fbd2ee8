//@ verdict: race
//@ block: 64
//@ grid: 8
//@ compiler: clang
// The last byte of a thread lies in the word of the next.

extern "C" __global__ void width_overlap(unsigned char *b) {
    int g = blockIdx.x * 64 + threadIdx.x;
    ((unsigned *)b)[g] = 0x01020304u * g;  // RACE
    b[4 * g + 5] = 9;  // RACE
}
