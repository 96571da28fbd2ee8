//@ verdict: race
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

// Behind the barrier of the invariant a byte of each place is overwritten.
extern "C" __global__ void trap_invariant_width(int *out, int shift) {
    __shared__ int place[128];
    int t = threadIdx.x;
    place[t] = t ^ shift;
    GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == (threadIdx.x ^ [trap_invariant_width_param_1]) at 127 - threadIdx.x");
    __syncthreads();
    ((unsigned char *)place)[4 * t] = 0;
    __syncthreads();
    out[place[127 - t]] = t; // RACE
}
