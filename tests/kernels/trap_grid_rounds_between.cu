//@ verdict: race
//@ block: 64
//@ grid: 4
// The other threads write while thread 0 waits.
__device__ void all_blocks(unsigned *count, unsigned *round, float *x) {
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
    } else {
        x[blockIdx.x * 64 + threadIdx.x] = 1;  // RACE
    }
    __syncthreads();
}

extern "C" __global__ void trap_grid_rounds_between(float *x, float *y, unsigned *count, unsigned *round, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    for (int r = 0; r < rounds; r++) {
        y[i] = 0;
        all_blocks(count, round, x);
        y[i] += x[(i + 64) % n];  // RACE
        all_blocks(count, round, x);
    }
}
