//@ verdict: verified
//@ block: 64
//@ grid: 4
// Two steps of a stencil a round, with barriers of the grid from cooperative groups.
#include <cooperative_groups.h>
extern "C" __global__ void grid_sync(float *x, float *y, int n, int rounds) {
    auto grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i + 1];
        grid.sync();
        if (i > 0 && i < n - 1) x[i] = y[i - 1] + y[i + 1];
        grid.sync();
    }
}
