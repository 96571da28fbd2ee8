//@ run: --block 64 --grid 2 --arg random:1024xf32 --arg zeros:128xf32 --arg 5
//@ variant: read_first race
//@ variant: no_free barrier-error
// cuda::barrier of libcu++ as a producer and a consumer use it: one arrives, the other one arrives and waits for that phase.
#include <cuda/barrier>
using Barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void kernel(const float *in, float *out, int n) {
    __shared__ float buffer[32];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier full, free;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        init(&full, 64);
        init(&free, 64);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < n; i++) {
#ifndef BROKEN_no_free
            free.arrive_and_wait();
#else
            (void)free.arrive();  // HERE no_free
#endif
            buffer[lane] = in[(blockIdx.x * n + i) * 32 + lane];  // HERE read_first
            (void)full.arrive();  // HERE no_free
        }
    } else {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            (void)free.arrive();
#ifdef BROKEN_read_first
            sum += buffer[31 - lane];  // HERE read_first
#endif
            full.arrive_and_wait();
#ifndef BROKEN_read_first
            sum += buffer[31 - lane];
#endif
        }
        out[blockIdx.x * 32 + lane] = sum;
    }
}
