//@ verdict: assertion
//@ block: 128
//@ grid: 64
#include "gpuvcc.h"

// The invariant is false: the amount is multiplied, not added.
extern "C" __global__ void barrier_invariant_shift_broken(const int *amount, int *out) {
    __shared__ int place[128];
    int shift = amount[blockIdx.x];
    place[threadIdx.x] = (threadIdx.x * shift) & 127;
    GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == " // ASSERTION
                             "((threadIdx.x + [barrier_invariant_shift_broken_param_0].s32[4 * blockIdx.x]) & 127) "
                             "at 127 - threadIdx.x");
    __syncthreads();
    out[blockIdx.x * 128 + place[127 - threadIdx.x]] = threadIdx.x;
}
