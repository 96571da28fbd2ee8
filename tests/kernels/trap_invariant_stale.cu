//@ verdict: race
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

// The invariant holds at the first barrier, and not any more behind the second.
extern "C" __global__ void trap_invariant_stale(int *out, int shift) {
    __shared__ int place[128];
    int t = threadIdx.x;
    place[t] = t ^ shift;
    GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == (threadIdx.x ^ [trap_invariant_stale_param_1]) at 127 - threadIdx.x");
    __syncthreads();
    int first = place[127 - t];
    __syncthreads();
    place[t] = t >> 1;
    __syncthreads();
    out[place[127 - t]] = first; // RACE
}
