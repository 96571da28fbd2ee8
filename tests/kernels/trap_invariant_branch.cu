//@ verdict: race
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

// Only one way of the branch has the barrier with the invariant.
extern "C" __global__ void trap_invariant_branch(int *out, int shift) {
    __shared__ int place[128];
    int t = threadIdx.x;
    place[t] = (t ^ shift) >> 1;
    __syncthreads();
    if (shift > 5) {
        place[t] = t ^ shift;
        GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == (threadIdx.x ^ [trap_invariant_branch_param_1]) at 127 - threadIdx.x");
        __syncthreads();
    }
    out[place[127 - t]] = t; // RACE
}
