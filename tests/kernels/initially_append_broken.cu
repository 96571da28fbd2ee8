//@ verdict: race
//@ block: 256
//@ grid: 8
// The counter starts at -1: the first that is appended overwrites the last element.
#include "gpuvcc.h"

extern "C" __global__ void initially_append(int *count, int *out, const int *in, int n) {
    GPUVCC_FACT("initially([initially_append_param_0].s32 == -1)");
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i];  // RACE
        if (in[i] > 0) out[n + atomicAdd(count, 1)] = i;  // RACE
    }
}
