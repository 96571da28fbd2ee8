//@ verify: --block 128 --grid 2 --param 2=4
//@ variant: early race
//@ variant: not_started barrier-error
//@ variant: not_awaited barrier-error
// A warp that copies for three warps that compute, in the way of CudaDMA: an object has a barrier for the start of a transfer
// and one for its end.
#include "named.h"

struct Transfer {
    int start, end;
    __device__ void start_async() const { arrive(start, 128); }  // HERE not_started not_awaited
    __device__ void wait_for_start() const { wait(start, 128); }
    __device__ void finish_async() const { arrive(end, 128); }
    __device__ void wait_for_finish() const { wait(end, 128); }
};

extern "C" __global__ void kernel(const float *in, float *out, int n) {
    __shared__ float tile[2][96];
    const Transfer transfers[2] = {{1, 2}, {3, 4}};
    if (threadIdx.x >= 96) {
        int lane = threadIdx.x - 96;
        for (int i = 0; i < n; i++) {
            const Transfer &transfer = transfers[i % 2];
#ifndef BROKEN_not_started
            transfer.wait_for_start();
#else
            if (i > 0) transfer.wait_for_start();
#endif
#ifdef BROKEN_early
            transfer.finish_async();
#endif
            for (int k = lane; k < 96; k += 32) tile[i % 2][k] = in[(blockIdx.x * n + i) * 96 + k];  // HERE early
#ifndef BROKEN_early
            transfer.finish_async();
#endif
        }
    } else {
        float sum = 0.0f;
        transfers[0].start_async();
        for (int i = 0; i < n; i++) {
            if (i + 1 < n) transfers[(i + 1) % 2].start_async();
#ifndef BROKEN_not_awaited
            transfers[i % 2].wait_for_finish();
#endif
            sum += tile[i % 2][95 - threadIdx.x];  // HERE early
        }
        out[blockIdx.x * 96 + threadIdx.x] = sum;
    }
}
