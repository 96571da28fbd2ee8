//@ verdict: race
//@ block: 64
//@ grid: 4
// What a block has stored may be another number when it comes back.
__device__ void all_blocks(unsigned *count, unsigned *round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned now = *(volatile unsigned *)round;
        __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) {
            *(volatile unsigned *)count = 0;
            __threadfence();
            *(volatile unsigned *)round = now + 1;
        } else {
            while (*(volatile unsigned *)round == now) {
            }
            __threadfence();
        }
    }
    __syncthreads();
}

extern "C" __global__ void trap_grid_rounds_contents(int *x, int *y, unsigned *count, unsigned *round, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = i;
    all_blocks(count, round);
    if (blockIdx.x == 0) {
        for (int j = threadIdx.x; j < 64 * gridDim.x; j += 64) y[j] = 0;
    }
    all_blocks(count, round);
    x[y[i]] = i;  // RACE
}
