//@ verdict: verified
//@ block: 64
//@ grid: 4
// The same with a counter that goes back to 0 by itself, and a round that is counted.
__device__ void all_blocks(unsigned *count, unsigned *round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned now = *(volatile unsigned *)round;
        __threadfence();
        if (atomicInc(count, gridDim.x - 1) == gridDim.x - 1) {
            __threadfence();
            atomicAdd(round, 1);
        } else {
            while (*(volatile unsigned *)round == now) {
            }
            __threadfence();
        }
    }
    __syncthreads();
}

extern "C" __global__ void grid_barrier_inc(float *x, float *y, unsigned *count, unsigned *round, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    for (int r = 0; r < rounds; r++) {
        y[i] = x[(i + 64) % n];
        all_blocks(count, round);
        x[i] = y[(i + 64) % n] + 1;
        all_blocks(count, round);
    }
}
