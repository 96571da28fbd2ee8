//@ verify: --block 64 --grid 2 --param 2=5
//@ variant: early race
//@ variant: read_first race
//@ variant: missing deadlock
//@ variant: count barrier-error
//@ variant: id deadlock
//@ variant: no_free barrier-error
//@ variant: extra barrier-error
// One warp fills a buffer, the other one reads it: barrier 1 says that it is full, barrier 2 that it is free.
#include "named.h"
enum { FULL = 1, FREE = 2 };

extern "C" __global__ void kernel(const float *in, float *out, int n) {
    __shared__ float buffer[32];
    int lane = threadIdx.x % 32;
    float sum = 0.0f;
    if (threadIdx.x < 32) {
        for (int i = 0; i < n; i++) {
#ifndef BROKEN_no_free
            if (i > 0) wait(FREE, 64);  // HERE missing id
#endif
#ifdef BROKEN_early
            arrive(FULL, 64);
#endif
            buffer[lane] = in[(blockIdx.x * n + i) * 32 + lane];  // HERE early read_first
#ifndef BROKEN_early
            arrive(FULL, 64);  // HERE no_free
#endif
#ifdef BROKEN_extra
            arrive(FULL, 64);  // HERE extra
#endif
        }
    } else {
        for (int i = 0; i < n; i++) {
#ifdef BROKEN_read_first
            sum += buffer[31 - lane];  // HERE read_first
#endif
#ifdef BROKEN_count
            wait(FULL, 96);  // HERE count
#elif defined(BROKEN_id)
            wait(3, 64);  // HERE id
#else
            wait(FULL, 64);  // HERE missing
#endif
#ifndef BROKEN_read_first
            sum += buffer[31 - lane];  // HERE early
#endif
#ifndef BROKEN_missing
            if (i + 1 < n) arrive(FREE, 64);
#endif
        }
        out[blockIdx.x * 32 + lane] = sum;
    }
}
