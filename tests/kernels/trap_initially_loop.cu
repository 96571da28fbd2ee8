//@ verdict: race
//@ block: 64
//@ grid: 2
// It holds in the first round only.
#include "gpuvcc.h"

extern "C" __global__ void trap_initially_loop(int *a, int *out, int n) {
    GPUVCC_FACT("initially([trap_initially_loop_param_0].s32 == 0)");
    int g = blockIdx.x * 64 + threadIdx.x;
    for (int i = 0; i < n; i++) {
        out[g + a[g]] = i;  // RACE
        a[g] = a[g] + 1;
    }
}
