//@ verdict: assertion
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

// A thread states what its neighbour may just have overwritten: what it saw is not what memory holds at the barrier.
extern "C" __global__ void trap_invariant_access(int *out) {
    __shared__ int place[128];
    int t = threadIdx.x;
    place[t] = t;
    __syncthreads();
    place[t] = 0;
    GPUVCC_BARRIER_INVARIANT("threadIdx.x < 127 ==> place.s32[4 * threadIdx.x + 4] == threadIdx.x + 1"); // ASSERTION
    __syncthreads();
    if (t < 127) {
        out[place[t + 1]] = t; // RACE
    }
}
