//@ verify: --block 128 --grid 2 --param 2=3
//@ variant: count deadlock
//@ variant: missing deadlock
//@ variant: early race
// Three warps write a part each, the fourth one adds them when all have come.
#include "named.h"
enum { FULL = 5, FREE = 6 };

extern "C" __global__ void kernel(const float *in, float *out, int n) {
    __shared__ float part[96];
#ifdef BROKEN_count
    const int all = 96;
#else
    const int all = 128;
#endif
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        if (threadIdx.x < 96) {
#ifdef BROKEN_early
            arrive(FULL, all);
#endif
            part[threadIdx.x] = in[(blockIdx.x * n + i) * 96 + threadIdx.x];  // HERE early
#ifdef BROKEN_missing
            if (threadIdx.x >= 32) arrive(FULL, all);
#elif !defined(BROKEN_early)
            arrive(FULL, all);
#endif
            wait(FREE, 128);  // HERE missing count
        } else {
            wait(FULL, all);  // HERE missing count
            for (int k = threadIdx.x - 96; k < 96; k += 32) sum += part[95 - k];  // HERE early
            wait(FREE, 128);
        }
    }
    if (threadIdx.x >= 96) out[blockIdx.x * 32 + threadIdx.x - 96] = sum;
}
