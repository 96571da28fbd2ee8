//@ verdict: verified
//@ block: 64
//@ grid: 4
// The same with a counter that has to be at least as much; the number is made of that of the round.
__device__ void all_blocks(unsigned *count, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < goal) {
        }
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void grid_barrier_goal_least(float *x, float *y, unsigned *count, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    for (int r = 0; r < rounds; r++) {
        float sum = x[(i + 64) % n];
        all_blocks(count, (2 * r + 1) * gridDim.x);
        x[i] = sum;
        all_blocks(count, (2 * r + 2) * gridDim.x);
    }
}
