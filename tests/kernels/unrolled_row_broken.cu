//@ verdict: race
//@ block: 256
//@ grid: 64
#include "gpuvcc.h"

// As unrolled_row, but the rows of the result overlap by one element.
extern "C" __global__ void unrolled_row_broken(const float *x, float *y, int columns) {
    GPUVCC_REQUIRES(1 <= columns && columns <= 1000000);
    const float *from = x + (size_t)blockIdx.x * columns;
    float *to = y + (size_t)blockIdx.x * (columns - 1);
    for (int i = threadIdx.x; i < columns; i += 256) to[i] = from[i] * 2;  // RACE
}
