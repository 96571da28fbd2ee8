//@ verdict: race
//@ block: 128
//@ grid: 2
#include "gpuvcc.h"

// Each block knows of its own places only, and two blocks use one array.
extern "C" __global__ void trap_invariant_blocks(int *out, int *scratch, int shift) {
    int t = threadIdx.x;
    scratch[128 * blockIdx.x + t] = t ^ shift;
    GPUVCC_BARRIER_INVARIANT("[trap_invariant_blocks_param_1].s32[4 * (128 * blockIdx.x + threadIdx.x)] == "
                             "(threadIdx.x ^ [trap_invariant_blocks_param_2]) at 127 - threadIdx.x");
    __syncthreads();
    out[scratch[128 * blockIdx.x + 127 - t]] = t; // RACE
}
