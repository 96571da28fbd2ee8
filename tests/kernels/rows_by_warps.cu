//@ verdict: verified
//@ block: 128
//@ grid: 2048
#include "gpuvcc.h"

// Each warp divides a row by its sum. The loop that sums has rounds left over, for which compilers write a loop of its own, so
// that three loops come one behind the other.
extern "C" __global__ void rows_by_warps(float *out, const float *in, int rows, int columns) {
    int row = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int x = lane; x < columns; x += 32) sum += in[(size_t)row * columns + x];
    for (int distance = 16; distance > 0; distance >>= 1) sum += __shfl_xor_sync(~0u, sum, distance);
#pragma unroll 1
    for (int x = lane; x < columns; x += 32) {
        out[(size_t)row * columns + x] = in[(size_t)row * columns + x] / sum;
    }
}
