//@ verdict: race
//@ block: 32
//@ grid: 8
#include "gpuvcc.h"
// The last block finds what the others stored, not what the array held at the start.
extern "C" __global__ void trap_last_block_contents(int *ready, int *x, unsigned *count) {
    GPUVCC_FACT("initially([trap_last_block_contents_param_0].s32 == 0)");
    if (threadIdx.x != 0) return;
    ready[blockIdx.x] = 1;
    __threadfence();
    unsigned old = atomicAdd(count, 1);
    if (old == gridDim.x - 1) {
        __threadfence();
        if (ready[(blockIdx.x + 1) % gridDim.x] == 1) *x = 2;  // RACE
    } else if (blockIdx.x == 0) {
        *x = 1;  // RACE
    }
}
