//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: nothing orders the store that sets the word to 0 again.
extern "C" __global__ void winner_again_broken(int *out) {
    __shared__ int taken;
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    if (atomicExch(&taken, 1) == 0) out[blockIdx.x] = threadIdx.x; // RACE
    if (threadIdx.x == 0) taken = 0; // RACE
    __syncthreads();
    if (atomicExch(&taken, 1) == 0) out[blockIdx.x] = threadIdx.x;
}
