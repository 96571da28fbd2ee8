//@ verdict: race
//@ block: 64
//@ grid: 2
// What holds at the start does not hold behind a store of the thread itself.
#include "gpuvcc.h"

extern "C" __global__ void trap_initially_written(int *a, int *out) {
    GPUVCC_FACT("initially([trap_initially_written_param_0].s32 == 0)");
    int g = blockIdx.x * 64 + threadIdx.x;
    a[g] = -g;
    out[a[g] + g] = g;  // RACE
}
