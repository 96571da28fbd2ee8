//@ verdict: race
//@ block: 64
//@ grid: 4
// Broken: the first barrier of a round waits for what the last one of the round before has waited for.
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

extern "C" __global__ void grid_barrier_goal_least_broken(float *x, float *y, unsigned *count, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    for (int r = 0; r < rounds; r++) {
        float sum = x[(i + 64) % n];  // RACE
        all_blocks(count, 2 * r * gridDim.x);
        x[i] = sum;  // RACE
        all_blocks(count, (2 * r + 2) * gridDim.x);
    }
}
