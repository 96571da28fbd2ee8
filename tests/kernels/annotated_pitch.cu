//@ verdict: verified
//@ block: 128
//@ grid: *,1,1
#include "gpuvcc.h"

// Rows of a pitched image, one for a block: they stay apart because the host makes the pitch wide enough.
extern "C" __global__ void annotated_pitch(float *image, int width, int pitch) {
    GPUVCC_REQUIRES(width > 0 && pitch >= width);
    GPUVCC_REQUIRES((long long)gridDim.x * pitch < 2147483648LL);
    for (int x = threadIdx.x; x < width; x += blockDim.x) {
        image[blockIdx.x * pitch + x] = 1.0f;
    }
}
