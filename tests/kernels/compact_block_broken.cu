//@ verdict: race
//@ block: 256
//@ grid: 8
// The counter of every other block starts at 1, so its last slot is the first one of the next block.
extern "C" __global__ void compact_block(const int *in, int *out) {
    __shared__ int kept;
    if (threadIdx.x == 0) kept = blockIdx.x & 1;
    __syncthreads();
    int value = in[blockIdx.x * 256 + threadIdx.x];
    if (value >= 0) out[blockIdx.x * 256 + atomicAdd(&kept, 1)] = value;  // RACE
}
