//@ verify: --block 64 --grid 2 --param 2=7
//@ stages: 2 3 4 5
//@ variant: late race
//@ variant: no_barrier race
//@ variant: slot race
// Copies go STAGES - 1 tiles ahead of what is read, each thread waits for its own, and a barrier tells the others.
#include <cuda_pipeline.h>

extern "C" __global__ void kernel(const float *in, float *out, int n) {
    __shared__ float tile[STAGES][64];
    const float *own = in + blockIdx.x * n * 64 + threadIdx.x;
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < n) __pipeline_memcpy_async(&tile[i][threadIdx.x], own + i * 64, 4);  // HERE late no_barrier
        __pipeline_commit();
    }
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
#ifdef BROKEN_late
        __pipeline_wait_prior(STAGES - 1);
#else
        __pipeline_wait_prior(STAGES - 2);
#endif
#ifndef BROKEN_no_barrier
        __syncthreads();
#endif
#ifdef BROKEN_slot
        int next = i + STAGES - 1, to = i % STAGES;
#else
        int next = i + STAGES - 1, to = next % STAGES;
#endif
        if (next < n) __pipeline_memcpy_async(&tile[to][threadIdx.x], own + next * 64, 4);  // HERE late no_barrier slot
        __pipeline_commit();
        sum += tile[i % STAGES][63 - threadIdx.x];  // HERE late no_barrier slot
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}
