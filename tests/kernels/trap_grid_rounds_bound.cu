//@ verdict: race
//@ block: 64
//@ grid: 4
// The counter goes back to 0 too soon, and the last but one block lets all others go on.
__device__ void all_blocks(unsigned *count, unsigned *round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned now = *(volatile unsigned *)round;
        __threadfence();
        if (atomicInc(count, gridDim.x - 2) == gridDim.x - 2) {
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

extern "C" __global__ void trap_grid_rounds_bound(float *x, float *y, unsigned *count, unsigned *round, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    for (int r = 0; r < rounds; r++) {
        y[i] = x[(i + 64) % n];  // RACE
        all_blocks(count, round);
        x[i] = y[(i + 64) % n] + 1;  // RACE
        all_blocks(count, round);
    }
}
