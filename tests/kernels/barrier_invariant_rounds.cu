//@ verdict: verified
//@ block: 64
//@ grid: 1
#include "gpuvcc.h"

// In each round the block sends its elements round by an amount that memory holds.
extern "C" __global__ void barrier_invariant_rounds(const int *amount, int *out, int rounds) {
    __shared__ int place[64];
    int t = threadIdx.x;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        place[t] = (t + amount[0]) & 63;
        GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == "
                                 "((threadIdx.x + [barrier_invariant_rounds_param_0].s32[0]) & 63) "
                                 "at 63 - threadIdx.x");
        __syncthreads();
        out[place[63 - t]] = round;
        __syncthreads();
    }
}
