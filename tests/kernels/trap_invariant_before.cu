//@ verdict: possible-race
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

// The first thread uses the invariant of thread -1.
extern "C" __global__ void trap_invariant_before(int *out) {
    __shared__ int place[129];
    int t = threadIdx.x;
    place[t + 1] = t;
    GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x + 4] == threadIdx.x at threadIdx.x - 1");
    __syncthreads();
    out[place[t]] = t; // RACE
}
