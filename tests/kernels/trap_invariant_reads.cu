//@ verdict: race
//@ block: 128
//@ grid: 2
#include "gpuvcc.h"

// What the block states of its own piece, another block may change at any time.
extern "C" __global__ void trap_invariant_reads(int *out, int *scratch, int shift) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        scratch[t] = t ^ shift; // RACE
        GPUVCC_BARRIER_INVARIANT("[trap_invariant_reads_param_1].s32[4 * threadIdx.x] == " // ASSERTION
                                 "(threadIdx.x ^ [trap_invariant_reads_param_2]) at 127 - threadIdx.x");
        __syncthreads();
        out[scratch[127 - t]] = t; // RACE
    } else {
        scratch[t] = 0; // RACE
    }
}
