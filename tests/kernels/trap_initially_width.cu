//@ verdict: race
//@ block: 64
//@ grid: 2
// The fact is about the element at byte 0 alone.
#include "gpuvcc.h"

extern "C" __global__ void trap_initially_width(const int *a, int *out) {
    GPUVCC_FACT("initially([trap_initially_width_param_0].s32[0] == 0)");
    int g = blockIdx.x * 64 + threadIdx.x;
    out[g + a[blockIdx.x]] = g;  // RACE
}
