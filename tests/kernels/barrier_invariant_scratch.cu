//@ verdict: verified
//@ block: 128
//@ grid: 32
#include "gpuvcc.h"

// Places are handed over in global memory, a piece for each block.
extern "C" __global__ void barrier_invariant_scratch(const int *mask, int *scratch, int *out) {
    int t = threadIdx.x;
    int flip = mask[blockIdx.x] & 127;
    scratch[128 * blockIdx.x + t] = t ^ flip;
    GPUVCC_BARRIER_INVARIANT("[barrier_invariant_scratch_param_1].s32[4 * (128 * blockIdx.x + threadIdx.x)] == "
                             "(threadIdx.x ^ [barrier_invariant_scratch_param_0].s32[4 * blockIdx.x] & 127) "
                             "at 127 - threadIdx.x");
    __syncthreads();
    out[128 * blockIdx.x + scratch[128 * blockIdx.x + 127 - t]] = t;
}
