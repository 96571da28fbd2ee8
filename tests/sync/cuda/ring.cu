//@ verify: --block 128 --grid 2 --param 2=9
//@ variant: slot race
//@ variant: count barrier-error
//@ variant: early race
// A ring of four buffers between two warps that fill it and two that read it; barriers 0 to 3 are full, 4 to 7 free.
#include "named.h"
enum { BUFFERS = 4 };

extern "C" __global__ void kernel(const float *in, float *out, int n) {
    __shared__ float buffer[BUFFERS][64];
    int own = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        for (int i = 0; i < n; i++) {
            int at = i % BUFFERS;
            if (i >= BUFFERS) wait(BUFFERS + at, 128);
            buffer[at][own] = in[(blockIdx.x * n + i) * 64 + own];  // HERE slot early
#ifdef BROKEN_count
            arrive(at, 96);
#else
            arrive(at, 128);
#endif
        }
    } else {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            int at = i % BUFFERS;
            wait(at, 128);  // HERE count
#ifdef BROKEN_early
            if (i + BUFFERS < n) arrive(BUFFERS + at, 128);
#endif
#ifdef BROKEN_slot
            sum += buffer[(at + 1) % BUFFERS][63 - own];  // HERE slot
#else
            sum += buffer[at][63 - own];  // HERE early
#endif
#ifndef BROKEN_early
            if (i + BUFFERS < n) arrive(BUFFERS + at, 128);
#endif
        }
        out[blockIdx.x * 64 + own] = sum;
    }
}
