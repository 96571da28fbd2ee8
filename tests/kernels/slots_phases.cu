//@ verdict: verified
//@ block: 64
//@ grid: 8
// Two lists of a block with one counter, which thread 0 resets between two barriers.
extern "C" __global__ void slots_phases(const int *in, int *out) {
    __shared__ unsigned count;
    __shared__ int list[64];
    int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    if (tid == 0) count = 0;
    __syncthreads();
    int value = in[i];
    if (value > 0) list[atomicAdd(&count, 1u)] = value;
    __syncthreads();
    out[i] = list[63 - tid];
    if (tid == 0) count = 0;
    __syncthreads();
    if (value < 0) list[atomicAdd(&count, 1u)] = value;
}
