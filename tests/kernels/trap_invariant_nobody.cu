//@ verdict: possible-race
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

// The last thread uses the invariant of a thread that the block has not: its neighbour stated nothing.
extern "C" __global__ void trap_invariant_nobody(int *out) {
    __shared__ int place[129];
    int t = threadIdx.x;
    place[t] = 127 - t;
    GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == 127 - threadIdx.x at threadIdx.x + 1");
    __syncthreads();
    out[place[t + 1]] = t; // RACE
}
