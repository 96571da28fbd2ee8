//@ verdict: race
//@ block: 64
//@ grid: 4
// Broken: one of the two barriers of a round is one of the block.
#include <cooperative_groups.h>
extern "C" __global__ void grid_sync_broken(float *x, float *y, int n, int rounds) {
    auto grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i + 1];  // RACE
        grid.sync();
        if (i > 0 && i < n - 1) x[i] = y[i - 1] + y[i + 1];  // RACE
        __syncthreads();
    }
}
