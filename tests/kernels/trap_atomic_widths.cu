//@ verdict: race
//@ block: 64
//@ grid: 8
// Atomics of 32 and 64 bits on one cell overlap only in part.

extern "C" __global__ void atomic_widths(unsigned long long *c) {
    if (threadIdx.x & 1)
        atomicAdd(c, 1ull);  // RACE
    else
        atomicAdd((unsigned *)c, 1u);  // RACE
}
