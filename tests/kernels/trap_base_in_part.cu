//@ verdict: race
//@ block: 64
//@ grid: 4
// Only some blocks store.
extern "C" __global__ void trap_base_in_part(int *out) {
    __shared__ int base;
    if (threadIdx.x == 0) base = 0;
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x > 1) base = blockIdx.x * 64;
    __syncthreads();
    out[base + threadIdx.x] = 1;  // RACE
}
