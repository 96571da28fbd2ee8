//@ verdict: race
//@ block: 64
//@ grid: 4
#include "gpuvcc.h"

// Four-byte writes at an offset in bytes that may be less than four.
extern "C" __global__ void annotated_aligned_broken(unsigned char *bytes, unsigned stride) {
    GPUVCC_REQUIRES(stride != 0);
    GPUVCC_REQUIRES((unsigned long long)stride * gridDim.x * blockDim.x < 4294967296ULL);
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    *(unsigned *)(bytes + thread * stride) = thread;  // RACE
}
