//@ verdict: race
//@ block: 64
//@ grid: 4
// Which thread stores depends on data, and perhaps none does.
extern "C" __global__ void trap_base_other_thread(int *out, const int *who) {
    __shared__ int base;
    if (threadIdx.x == 0) base = 0;
    __syncthreads();
    if (threadIdx.x == who[blockIdx.x]) base = blockIdx.x * 64;
    __syncthreads();
    out[base + threadIdx.x] = 1;  // RACE
}
