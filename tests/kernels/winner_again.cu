//@ verdict: verified
//@ block: 64
//@ grid: 8
// The word of a block is set to 0 between barriers, and so has a winner again.
extern "C" __global__ void winner_again(int *out) {
    __shared__ int taken;
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    if (atomicExch(&taken, 1) == 0) out[blockIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    if (atomicExch(&taken, 1) == 0) out[blockIdx.x] = threadIdx.x;
}
