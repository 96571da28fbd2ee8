//@ verdict: divergence
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

// Half of the threads state the invariant at a barrier that the others do not come to.
extern "C" __global__ void trap_invariant_half(int *out) {
    __shared__ int place[128];
    int t = threadIdx.x;
    place[t] = t;
    if (t < 64) {
        GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == threadIdx.x at 127 - threadIdx.x");
        __syncthreads(); // DIVERGENCE
    }
    out[t] = place[t];
}
