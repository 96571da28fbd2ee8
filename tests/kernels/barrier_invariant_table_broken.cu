//@ verdict: possible-race
//@ block: 256
//@ grid: 1
#include "gpuvcc.h"

// Of what the invariant says of a thread, another one is used: two threads may read one place.
extern "C" __global__ void barrier_invariant_table_broken(const int *table, const int *inverse, float *out) {
    __shared__ int place[256];
    int t = threadIdx.x;
    int entry = table[t];
    GPUVCC_ASSUME(0 <= entry && entry < 256 && inverse[entry] == t);
    place[t] = entry;
    GPUVCC_BARRIER_INVARIANT("[barrier_invariant_table_broken_param_1].s32[4 * place.s32[4 * threadIdx.x]] == threadIdx.x "
                             "at threadIdx.x ^ 1");
    __syncthreads();
    out[place[t >> 1]] = 2.0f * t; // RACE
}
