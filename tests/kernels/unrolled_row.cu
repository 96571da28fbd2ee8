//@ verdict: verified
//@ block: 256
//@ grid: 64
#include "gpuvcc.h"

// A block scales its row. The compiler makes two loops of this one: up to three rounds for the remainder, then four
// elements a round, of which it compares the first only.
extern "C" __global__ void unrolled_row(const float *x, float *y, int columns) {
    GPUVCC_REQUIRES(1 <= columns && columns <= 1000000);
    const float *from = x + (size_t)blockIdx.x * columns;
    float *to = y + (size_t)blockIdx.x * columns;
    for (int i = threadIdx.x; i < columns; i += 256) to[i] = from[i] * 2;
}
