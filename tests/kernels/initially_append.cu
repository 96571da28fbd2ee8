//@ verdict: verified
//@ block: 256
//@ grid: 8
// The counter starts at 0, so what is appended lies behind the first n elements.
#include "gpuvcc.h"

extern "C" __global__ void initially_append(int *count, int *out, const int *in, int n) {
    GPUVCC_FACT("initially([initially_append_param_0].s32 == 0)");
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i];
        if (in[i] > 0) out[n + atomicAdd(count, 1)] = i;
    }
}
