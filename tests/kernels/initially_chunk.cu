//@ verdict: verified
//@ block: 256
//@ grid: 8
// A cursor of each block, which it reads before it writes it.
#include "gpuvcc.h"

extern "C" __global__ void initially_chunk(int *cursor, int *out) {
    GPUVCC_FACT("initially([initially_chunk_param_0].s32 == 0)");
    int start = cursor[blockIdx.x];
    out[blockIdx.x * 256 + start + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) cursor[blockIdx.x] = start + 256;
}
