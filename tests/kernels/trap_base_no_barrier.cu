//@ verdict: race
//@ block: 64
//@ grid: 4
// No barrier between.
extern "C" __global__ void trap_base_no_barrier(int *out) {
    __shared__ int base;
    if (threadIdx.x == 0) base = blockIdx.x * 64;  // RACE
    out[base + threadIdx.x] = 1;  // RACE
}
