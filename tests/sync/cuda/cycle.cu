//@ verify: --block 96 --grid 2 --param 2=4
//@ variant: missing deadlock
//@ variant: early race
//@ variant: order race
// Three warps hand a value on, and the last one lets the first begin again.
#include "named.h"

extern "C" __global__ void kernel(const float *in, float *out, int n) {
    __shared__ float hand[3][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < n; i++) {
        if (warp == 0) {
            if (i > 0) wait(3, 64);  // HERE missing
            hand[0][lane] = in[(blockIdx.x * n + i) * 32 + lane];  // HERE early order
            arrive(1, 64);
        } else if (warp == 1) {
#ifdef BROKEN_order
            arrive(2, 64);  // HERE order
            wait(1, 64);
            hand[1][lane] = 2.0f * hand[0][31 - lane];  // HERE order
#else
            wait(1, 64);  // HERE missing
#ifdef BROKEN_early
            arrive(2, 64);
#endif
            hand[1][lane] = 2.0f * hand[0][31 - lane];  // HERE early
#ifndef BROKEN_early
            arrive(2, 64);
#endif
#endif
        } else {
            wait(2, 64);  // HERE missing
            hand[2][lane] = 1.0f + hand[1][31 - lane];  // HERE early order
#ifndef BROKEN_missing
            if (i + 1 < n) arrive(3, 64);
#endif
        }
    }
    if (warp == 2) out[blockIdx.x * 32 + lane] = hand[2][lane];
}
