//@ verdict: race
//@ block: 128
//@ grid: 100
//@ param: n=12500
// Broken: threads take the base before the first thread has asked for it.

extern "C" __global__ void compact_by_block_broken(const int *in, int *out, int *total, int n) {
    __shared__ int count, base;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int value = i < n ? in[i] : 1;
    int place = 0;
    if (value % 2 == 0) place = atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(total, count);  // RACE
    if (value % 2 == 0) out[base + place] = value;  // RACE
}
