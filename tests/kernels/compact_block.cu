//@ verdict: verified
//@ block: 256
//@ grid: 8
// Each block compacts its part: slots are fewer than threads, as the counter starts at 0.
extern "C" __global__ void compact_block(const int *in, int *out) {
    __shared__ int kept;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    int value = in[blockIdx.x * 256 + threadIdx.x];
    if (value >= 0) out[blockIdx.x * 256 + atomicAdd(&kept, 1)] = value;
}
