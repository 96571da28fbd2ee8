//@ verdict: verified
//@ block: 64
//@ grid: *,1,1
#include "gpuvcc.h"

// Four-byte writes at an offset in bytes, which has to be a multiple of four.
extern "C" __global__ void annotated_aligned(unsigned char *bytes, unsigned stride) {
    GPUVCC_REQUIRES(stride % 4 == 0 && stride != 0);
    GPUVCC_REQUIRES((unsigned long long)stride * gridDim.x * blockDim.x < 4294967296ULL);
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    *(unsigned *)(bytes + thread * stride) = thread;
}
