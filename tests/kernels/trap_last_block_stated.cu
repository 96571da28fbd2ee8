//@ verdict: race
//@ block: 32
//@ grid: 8
// The counter is stated to begin with 1, so the block before the last one reads.
#include "gpuvcc.h"
extern "C" __global__ void trap_last_block_stated(const float *in, float *partial, float *out, unsigned *count) {
    GPUVCC_FACT("initially([trap_last_block_stated_param_3].u32 == 1)");
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];  // RACE
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicInc(count, gridDim.x) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; i++) sum += partial[i * 32 + t];  // RACE
        out[t] = sum;
    }
}
