//@ verdict: race
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

// The second invariant takes back what the first one says: a place is used twice.
extern "C" __global__ void trap_invariant_twice(int *out, int shift) {
    __shared__ int place[128];
    int t = threadIdx.x;
    place[t] = t ^ shift;
    GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == (threadIdx.x ^ [trap_invariant_twice_param_1]) at 127 - threadIdx.x");
    __syncthreads();
    int mine = place[127 - t];
    __syncthreads();
    place[t] = mine & 126;
    GPUVCC_BARRIER_INVARIANT("(place.s32[4 * threadIdx.x] & 1) == 0 at 127 - threadIdx.x");
    __syncthreads();
    out[place[127 - t]] = t; // RACE
}
