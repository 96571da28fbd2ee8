//@ verdict: race
//@ block: 64
//@ grid: 4
// Block 0 waits at other places than the others: the barriers meet, but what is between them does not.
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

extern "C" __global__ void trap_grid_rounds_apart(float *x, float *y, unsigned *count, unsigned *round, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    if (blockIdx.x == 0) {
        all_blocks(count, round);
        x[i] = 1;  // RACE
        all_blocks(count, round);
    } else {
        all_blocks(count, round);
        y[i] = x[i % 64];  // RACE
        all_blocks(count, round);
    }
}
