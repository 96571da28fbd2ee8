//@ verdict: race
//@ block: 64
//@ grid: 1
#include "gpuvcc.h"

// Nothing keeps a thread from the next round while another one still reads.
extern "C" __global__ void barrier_invariant_rounds_broken(const int *amount, int *out, int rounds) {
    __shared__ int place[64];
    int t = threadIdx.x;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        place[t] = (t + amount[0]) & 63; // RACE
        GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == "
                                 "((threadIdx.x + [barrier_invariant_rounds_broken_param_0].s32[0]) & 63) "
                                 "at 63 - threadIdx.x");
        __syncthreads();
        out[place[63 - t]] = round; // RACE
    }
}
