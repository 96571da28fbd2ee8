//@ verdict: race
//@ block: 64
//@ grid: 4
// One block less is waited for.
__device__ void all_blocks(unsigned *count, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < goal) {
        }
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void trap_grid_goal_less(float *x, float *y, unsigned *count, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    unsigned goal = 0;
    for (int r = 0; r < rounds; r++) {
        goal += gridDim.x;
        y[i] = x[(i + 64) % n];  // RACE
        all_blocks(count, goal - 1);
        goal += gridDim.x;
        x[i] = y[(i + 64) % n] + 1;  // RACE
        all_blocks(count, goal - 1);
    }
}
