//@ verdict: race
//@ block: 256
//@ grid: 64
#include "gpuvcc.h"

// A block for each row of a matrix. Compilers write four rounds of the loop out, in which a thread is somewhere in steps of the block,
// and where a row begins is a product of two numbers that are not known.
// The last thread has a place that the first one has in its next round.
extern "C" __global__ void row_by_block_broken(float *out, const float *in, const float *scale, int rows, int columns) {
    GPUVCC_REQUIRES(rows <= 1 << 30 && columns <= 1 << 30);
    int row = blockIdx.x;
    if (row >= rows) return;
    float by = scale[row];
    for (int x = threadIdx.x; x < columns; x += 255) {
        out[(size_t)row * columns + x] = in[(size_t)row * columns + x] * by;  // RACE
    }
}
