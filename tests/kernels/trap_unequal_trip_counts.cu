//@ verdict: race
//@ block: 64
//@ grid: 8
// Rows of 63 cells, but thread 63 of a block fills 64: the last is the first of the next block.

extern "C" __global__ void unequal_trip_counts(int *a) {
    int t = threadIdx.x;
    #pragma unroll 1
    for (int k = 0; k < t; k++) a[(blockIdx.x * 64 + t) * 63 + k] = k;
    a[(blockIdx.x * 64 + t) * 63 + t] = -1;  // RACE
}
