//@ verify: --block 64 --grid 2 --param 2=6
//@ variant: slot race
//@ variant: early race
//@ variant: late barrier-error
//@ variant: id barrier-error
// Two buffers: while one is read, the other one is filled. Barriers 1 and 2 say that they are full, 3 and 4 that they are free.
#include "named.h"

extern "C" __global__ void kernel(const float *in, float *out, int n) {
    __shared__ float buffer[2][32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int i = 0; i < n; i++) {
            int at = i % 2;
#ifdef BROKEN_late
            if (i > 2) wait(3 + at, 64);
#else
            if (i >= 2) wait(3 + at, 64);
#endif
#ifdef BROKEN_early
            arrive(1 + at, 64);
#endif
            buffer[at][lane] = in[(blockIdx.x * n + i) * 32 + lane];  // HERE slot early
#ifndef BROKEN_early
            arrive(1 + at, 64);  // HERE id late
#endif
        }
    } else {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            int at = i % 2;
#ifdef BROKEN_id
            wait(2 - at, 64);
#else
            wait(1 + at, 64);
#endif
#ifdef BROKEN_slot
            sum += buffer[1 - at][31 - lane];  // HERE slot
#else
            sum += buffer[at][31 - lane];  // HERE early
#endif
            if (i + 2 < n) arrive(3 + at, 64);
        }
        out[blockIdx.x * 32 + lane] = sum;
    }
}
//@ symbolic-when: --block 64 --grid 2
