//@ verdict: race
//@ block: 64
//@ grid: 8
// Two entries of the table are equal.
#include "gpuvcc.h"

__constant__ int order[4] = {3, 1, 0, 1};

extern "C" __global__ void initialised_table(int *out) {
    GPUVCC_FACT("initialised(order)");
    out[(order[blockIdx.x & 3] + (blockIdx.x & ~3)) * 64 + threadIdx.x] = threadIdx.x;  // RACE
}
