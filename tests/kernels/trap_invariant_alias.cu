//@ verdict: race
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

__device__ int *same() {
    extern __shared__ int again[];
    return again;
}

// Two names for one piece of dynamic shared memory: the second one changes what the first one holds.
extern "C" __global__ void trap_invariant_alias(int *out, int shift) {
    extern __shared__ int place[];
    int t = threadIdx.x;
    place[t] = t ^ shift;
    GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == (threadIdx.x ^ [trap_invariant_alias_param_1]) at 127 - threadIdx.x");
    __syncthreads();
    same()[t] = t >> 1;
    __syncthreads();
    out[place[127 - t]] = t; // RACE
}
