//@ verdict: race
//@ block: 64
//@ grid: 4
// Each thread adds more than once.
extern "C" __global__ void trap_compact_loop(const int *in, int *out, int n) {
    __shared__ int kept;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 64)
        if (in[i] > 0) out[blockIdx.x * 64 + atomicAdd(&kept, 1)] = i;  // RACE
}
