//@ verdict: race
//@ block: 64
//@ grid: 1
// The kernel changes the table.
#include "gpuvcc.h"

__device__ int shift[2] = {0, 64};

extern "C" __global__ void trap_initialised_written(int *out) {
    GPUVCC_FACT("initialised(shift)");
    if (threadIdx.x == 0) shift[1] = 1;
    __syncthreads();
    out[threadIdx.x + shift[0]] = 1;  // RACE
    out[threadIdx.x + shift[1]] = 2;  // RACE
}
