//@ verdict: race
//@ block: 128
//@ grid: 2
#include "gpuvcc.h"

// The pieces of the blocks overlap: what the invariant reads, another block may write.
extern "C" __global__ void barrier_invariant_scratch_broken(const int *mask, int *scratch, int *out) {
    int t = threadIdx.x;
    int flip = mask[blockIdx.x] & 127;
    scratch[64 * blockIdx.x + t] = t ^ flip; // RACE
    GPUVCC_BARRIER_INVARIANT("[barrier_invariant_scratch_broken_param_1].s32[4 * (64 * blockIdx.x + threadIdx.x)] == " // ASSERTION
                             "(threadIdx.x ^ [barrier_invariant_scratch_broken_param_0].s32[4 * blockIdx.x] & 127) "
                             "at 127 - threadIdx.x");
    __syncthreads();
    out[128 * blockIdx.x + scratch[64 * blockIdx.x + 127 - t]] = t; // RACE
}
