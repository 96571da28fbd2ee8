//@ verdict: race
//@ block: 128
//@ grid: 8
// As `initially_buckets`, with buckets of 63 slots that hold 64.
#include "gpuvcc.h"

extern "C" __global__ void initially_buckets(int *cursor, int *out, const int *key, int n) {
    GPUVCC_FACT("initially([initially_buckets_param_0].s32 == 0)");
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int b = key[i] & 1;
        int slot = atomicAdd(&cursor[b], 1);
        if (slot < 64) out[b * 63 + slot] = i;  // RACE
    }
}
