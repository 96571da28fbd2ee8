//@ verdict: race
//@ block: 128
//@ grid: *,1,1
//@ option: any-values
#include "gpuvcc.h"

// Rows of a pitched image, one for a block: they stay apart only if the pitch is at least the width.
extern "C" __global__ void annotated_pitch_broken(float *image, int width, int pitch) {
    GPUVCC_REQUIRES(width > 0 && pitch > 0);
    GPUVCC_REQUIRES((long long)gridDim.x * pitch < 2147483648LL);
    for (int x = threadIdx.x; x < width; x += blockDim.x) {
        image[blockIdx.x * pitch + x] = 1.0f;  // RACE
    }
}
