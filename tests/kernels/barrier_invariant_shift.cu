//@ verdict: verified
//@ block: 128
//@ grid: 64
#include "gpuvcc.h"

// A row is rotated by an amount that memory holds: each thread publishes a place, and another one uses it.
extern "C" __global__ void barrier_invariant_shift(const int *amount, int *out) {
    __shared__ int place[128];
    int shift = amount[blockIdx.x];
    place[threadIdx.x] = (threadIdx.x + shift) & 127;
    GPUVCC_BARRIER_INVARIANT("place.s32[4 * threadIdx.x] == "
                             "((threadIdx.x + [barrier_invariant_shift_param_0].s32[4 * blockIdx.x]) & 127) "
                             "at 127 - threadIdx.x");
    __syncthreads();
    out[blockIdx.x * 128 + place[127 - threadIdx.x]] = threadIdx.x;
}
