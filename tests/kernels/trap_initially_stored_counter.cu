//@ verdict: race
//@ block: 64
//@ grid: 1
// The counter is set to another value before the barrier.
#include "gpuvcc.h"

extern "C" __global__ void trap_initially_stored_counter(int *count, int *out) {
    GPUVCC_FACT("initially([trap_initially_stored_counter_param_0].s32 == 0)");
    if (threadIdx.x == 0) *count = -8;
    __syncthreads();
    out[threadIdx.x] = 1;  // RACE
    out[64 + atomicAdd(count, 1)] = 2;  // RACE
}
