//@ verdict: race
//@ block: 128
//@ grid: 1
#include "gpuvcc.h"

// The invariant in front of the loop holds in its first round only: each round changes the places.
extern "C" __global__ void trap_invariant_rounds(int *out, int shift) {
    __shared__ int place[128];
    int t = threadIdx.x;
    place[t] = t ^ shift;
    GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == (threadIdx.x ^ [trap_invariant_rounds_param_1]) at 127 - threadIdx.x");
    __syncthreads();
#pragma unroll 1
    for (int round = 0; round < 4; ++round) {
        out[place[127 - t]] = round; // RACE
        __syncthreads();
        place[t] = (t ^ shift) >> 1;
        __syncthreads();
    }
}
