//@ verdict: race
//@ block: 256
//@ grid: 8
// The fact is about the start: the second chunk begins elsewhere.
#include "gpuvcc.h"

extern "C" __global__ void initially_chunk(int *cursor, int *out) {
    GPUVCC_FACT("initially([initially_chunk_param_0].s32 == 0)");
    int start = cursor[blockIdx.x];
    out[blockIdx.x * 256 + start + threadIdx.x] = threadIdx.x;  // RACE
    __syncthreads();
    if (threadIdx.x == 0) cursor[blockIdx.x] = start + 128;
    __syncthreads();
    start = cursor[blockIdx.x];
    out[blockIdx.x * 256 + start + threadIdx.x] = threadIdx.x;  // RACE
}
