//@ verdict: race
//@ block: 64
//@ grid: 4
// Only the first block resets its counter; the others start somewhere.
extern "C" __global__ void trap_compact_not_reset(const int *in, int *out, int start) {
    __shared__ int kept;
    if (threadIdx.x == 0) kept = blockIdx.x == 0 ? 0 : start;
    __syncthreads();
    int value = in[blockIdx.x * 64 + threadIdx.x];
    if (value > 0) out[blockIdx.x * 64 + atomicAdd(&kept, 1)] = value;  // RACE
}
