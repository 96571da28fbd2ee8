//@ verdict: divergence
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

// Threads that have left state nothing: the barrier is theirs too.
extern "C" __global__ void trap_invariant_left(int *out, int n) {
    __shared__ int place[128];
    int t = threadIdx.x;
    if (t >= n) {
        return;
    }
    place[t] = t;
    GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == threadIdx.x at 127 - threadIdx.x");
    __syncthreads(); // DIVERGENCE
    out[place[127 - t]] = t;
}
