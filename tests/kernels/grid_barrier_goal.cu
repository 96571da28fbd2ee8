//@ verdict: verified
//@ block: 64
//@ grid: 4
// A barrier of all blocks made by hand: the counter is never reset, each round waits for more.
__device__ void all_blocks(unsigned *count, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count != goal) {
        }
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void grid_barrier_goal(float *x, float *y, unsigned *count, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    unsigned goal = 0;
    for (int r = 0; r < rounds; r++) {
        goal += gridDim.x;
        y[i] = x[(i + 64) % n];
        all_blocks(count, goal);
        goal += gridDim.x;
        x[i] = y[(i + 64) % n] + 1;
        all_blocks(count, goal);
    }
}
