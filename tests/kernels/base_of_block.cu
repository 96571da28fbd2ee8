//@ verdict: verified
//@ block: 64
//@ grid: 8
// One thread says where the block writes.
extern "C" __global__ void base_of_block(int *out, int n) {
    __shared__ int base, last;
    if (n < 0) return;
    if (threadIdx.x == 0) base = blockIdx.x * 128;
    if (threadIdx.x == blockDim.x - 1) last = 64;
    __syncthreads();
    out[base + threadIdx.x] = 1;
    out[base + last + threadIdx.x] = 2;
}
