//@ verify: --block 64 --grid 2 --param 2=7
//@ variant: late race
//@ variant: no_barrier race
// The same with cuda::pipeline of a thread, of libcu++: three stages.
#include <cuda/pipeline>
enum { STAGES = 3 };

extern "C" __global__ void kernel(const float *in, float *out, int n) {
    __shared__ float tile[STAGES][64];
    auto pipeline = cuda::make_pipeline();
    const float *own = in + blockIdx.x * n * 64 + threadIdx.x;
    for (int i = 0; i < STAGES - 1; i++) {
        pipeline.producer_acquire();
        if (i < n) cuda::memcpy_async(&tile[i][threadIdx.x], own + i * 64, sizeof(float), pipeline);  // HERE late no_barrier
        pipeline.producer_commit();
    }
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
#ifdef BROKEN_late
        cuda::pipeline_consumer_wait_prior<STAGES - 1>(pipeline);
#else
        cuda::pipeline_consumer_wait_prior<STAGES - 2>(pipeline);
#endif
#ifndef BROKEN_no_barrier
        __syncthreads();
#endif
        int next = i + STAGES - 1;
        pipeline.producer_acquire();
        if (next < n) cuda::memcpy_async(&tile[next % STAGES][threadIdx.x], own + next * 64, sizeof(float), pipeline);  // HERE late no_barrier
        pipeline.producer_commit();
        sum += tile[i % STAGES][63 - threadIdx.x];  // HERE late no_barrier
        pipeline.consumer_release();
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}
