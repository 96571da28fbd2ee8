//@ verdict: assertion
//@ block: 64
//@ grid: 16
#include "gpuvcc.h"

// A bin may be full, and its neighbour puts the element into the next one.
extern "C" __global__ void barrier_invariant_range_broken(const unsigned *fill, int *out) {
    __shared__ unsigned char taken[64];
    int t = threadIdx.x;
    unsigned count = fill[64 * blockIdx.x + t];
    taken[t] = count < 8 ? count : 8;
    GPUVCC_BARRIER_INVARIANT("taken.u8[threadIdx.x] < 8 at (threadIdx.x + 1) & 63"); // ASSERTION
    __syncthreads();
    int other = (t + 1) & 63;
    out[512 * blockIdx.x + 8 * other + taken[other]] = t;
}
