//@ verdict: verified
//@ block: 128
//@ grid: *,1,1
#include "gpuvcc.h"

// Elements are scattered by a permutation; what is none is left out: a slot counts only if the inverse leads back.
extern "C" __global__ void barrier_invariant_compact(const int *forward, const int *inverse, int *out) {
    __shared__ int back[128];
    __shared__ int slot[128];
    int t = threadIdx.x;
    int wanted = forward[t] & 127;
    back[t] = inverse[t];
    __syncthreads();
    slot[t] = back[wanted] == t ? wanted : -1;
    GPUVCC_BARRIER_INVARIANT("slot.s32[4 * threadIdx.x] == -1 || slot.u32[4 * threadIdx.x] < 128 && "
                             "back.s32[4 * slot.s32[4 * threadIdx.x]] == threadIdx.x at 127 - threadIdx.x");
    __syncthreads();
    int place = slot[127 - t];
    if (place != -1) {
        out[128 * blockIdx.x + place] = t;
    }
}
