//@ verdict: race
//@ block: 64
//@ grid: 8
// The blocks overlap.
extern "C" __global__ void base_of_block(int *out, int n) {
    __shared__ int base;
    if (n < 0) return;
    if (threadIdx.x == 0) base = blockIdx.x * 63;
    __syncthreads();
    out[base + threadIdx.x] = 1;  // RACE
}
