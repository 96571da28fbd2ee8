//@ verdict: verified
//@ block: 256
//@ grid: 1
#include "gpuvcc.h"

// The host promises that `table` is a permutation, by its inverse; the block reads it in another order than it scatters.
extern "C" __global__ void barrier_invariant_table(const int *table, const int *inverse, float *out) {
    __shared__ int place[256];
    int t = threadIdx.x;
    int entry = table[t];
    GPUVCC_ASSUME(0 <= entry && entry < 256 && inverse[entry] == t);
    place[t] = entry;
    GPUVCC_BARRIER_INVARIANT("[barrier_invariant_table_param_1].s32[4 * place.s32[4 * threadIdx.x]] == threadIdx.x "
                             "at threadIdx.x ^ 1");
    __syncthreads();
    out[place[t ^ 1]] = 2.0f * t;
}
