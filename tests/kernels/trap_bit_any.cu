//@ verdict: race
//@ block: 64
//@ grid: 4
// Who sets one of two bits is not the only one that sets some bit.
extern "C" __global__ void trap_bit_any(unsigned *bits, int *where) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = (i & 1) ? 3u : 6u;
    if ((atomicOr(bits, mask) & mask) != mask) *where = i; // RACE
}
