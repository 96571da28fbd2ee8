//@ verdict: race
//@ block: 128,3
//@ grid: 32
// Threads of all rows write the same numbers.

__constant__ unsigned table[3][31];
extern "C" __global__ void quasirandom(float *out, unsigned seed, unsigned n) {
    const unsigned threads = blockDim.x * gridDim.x;
    if (n > 1u << 20) return;
    for (unsigned pos = blockIdx.x * blockDim.x + threadIdx.x; pos < n; pos += threads) {
        unsigned result = 0, bits = seed + pos;
        for (int bit = 0; bit < 31; bit++, bits >>= 1)
            if (bits & 1) result ^= table[threadIdx.y][bit];
        out[pos] = (float)(result + 1) * 4.6e-10f;  // RACE
    }
}
