//@ verdict: verified
//@ block: 256
//@ grid: 16
#include "gpuvcc.h"

// Running sums down the columns of an image, a column for each thread. Compilers write four rows of the loop out, and what is
// left of it begins at a place that is computed anew from the number of rows.
extern "C" __global__ void column_sums(const float *image, float *sums, int width, int height) {
    GPUVCC_REQUIRES(width >= 1 && width <= 65536 && height >= 1 && height <= 8192);
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    float sum = 0.0f;
    for (int y = 0; y < height; y++) {
        sum += image[y * width + x];
        sums[y * width + x] = sum;
    }
}
