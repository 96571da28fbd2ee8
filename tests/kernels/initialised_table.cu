//@ verdict: verified
//@ block: 64
//@ grid: 8
// A permutation in constant memory, which the host leaves as it is.
#include "gpuvcc.h"

__constant__ int order[4] = {3, 1, 0, 2};

extern "C" __global__ void initialised_table(int *out) {
    GPUVCC_FACT("initialised(order)");
    out[(order[blockIdx.x & 3] + (blockIdx.x & ~3)) * 64 + threadIdx.x] = threadIdx.x;
}
