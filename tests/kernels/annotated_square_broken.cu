//@ verdict: assertion
//@ block: *,1,1
//@ grid: 1
#include "gpuvcc.h"

// A loop that adds odd numbers: that their sum is a square is found by no search for invariants. It has more rounds than stated.
extern "C" __global__ void annotated_square_broken(int *data, int n) {
    GPUVCC_REQUIRES(n <= 1000);
    int square = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        GPUVCC_INVARIANT(square == k * k && k <= 10);
        if (square == k * k) __syncthreads();
        square += 2 * k + 1;
    }
    data[threadIdx.x] = square;
}
