//@ verdict: race
//@ block: 64
//@ grid: 4
// The last thread, if it is thread 0, overwrites what it stored: here another place of the same block does.
extern "C" __global__ void trap_base_hidden(int *out) {
    __shared__ int base;
    if (threadIdx.x == 0) base = blockIdx.x * 64;
    if (threadIdx.x == 0 && blockIdx.x == 2) base = 64;
    __syncthreads();
    out[base + threadIdx.x] = 1;  // RACE
}
