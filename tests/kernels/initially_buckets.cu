//@ verdict: verified
//@ block: 128
//@ grid: 8
// Each bucket has 64 slots, and its cursor starts at 0.
#include "gpuvcc.h"

extern "C" __global__ void initially_buckets(int *cursor, int *out, const int *key, int n) {
    GPUVCC_FACT("initially([initially_buckets_param_0].s32 == 0)");
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int b = key[i] & 15;
        int slot = atomicAdd(&cursor[b], 1);
        if (slot < 64) out[b * 64 + slot] = i;
    }
}
