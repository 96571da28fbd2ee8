//@ verdict: race
//@ block: 256
//@ grid: 64
// A plain look before the atomic.

extern "C" __global__ void atomic_max(const int *x, int *best) {
    int v = x[blockIdx.x * 256 + threadIdx.x];
    if (v > *best)  // RACE
        atomicMax(best, v);  // RACE
}
