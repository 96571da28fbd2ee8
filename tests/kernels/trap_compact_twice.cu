//@ verdict: race
//@ block: 64
//@ grid: 4
// Behind the second barrier the counter goes on where it was.
extern "C" __global__ void trap_compact_twice(const int *in, int *out) {
    __shared__ int kept;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    int value = in[blockIdx.x * 64 + threadIdx.x];
    if (value > 0) atomicAdd(&kept, 1);
    __syncthreads();
    if (value > 0) out[blockIdx.x * 64 + atomicAdd(&kept, 1)] = value;  // RACE
}
