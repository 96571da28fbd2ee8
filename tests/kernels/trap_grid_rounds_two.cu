//@ verdict: race
//@ block: 64
//@ grid: 4
// Two threads of a block count.
__device__ void all_blocks(unsigned *count, unsigned *round) {
    __syncthreads();
    if (threadIdx.x < 2) {
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

extern "C" __global__ void trap_grid_rounds_two(float *x, float *y, unsigned *count, unsigned *round, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    for (int r = 0; r < rounds; r++) {
        y[i] = x[(i + 64) % n];  // RACE
        all_blocks(count, round);
        x[i] = y[(i + 64) % n] + 1;  // RACE
        all_blocks(count, round);
    }
}
