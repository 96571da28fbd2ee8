//@ verdict: race
//@ block: 64
//@ grid: 4
// The counter is made 0 behind the fence: all blocks have come, but who looks at it then need not find that.
__device__ void all_blocks(unsigned *count, unsigned *round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned now = *(volatile unsigned *)round;
        __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) {
            __threadfence();
            *(volatile unsigned *)count = 0;  // RACE
            *(volatile unsigned *)round = now + 1;
        } else {
            while (*(volatile unsigned *)round == now) {
            }
            __threadfence();
        }
    }
    __syncthreads();
}
extern "C" __global__ void trap_grid_rounds_word(float *x, unsigned *y, unsigned *count, unsigned *round, int k) {
    int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = i;
    all_blocks(count, round);
    if (k == 0x12345677) y[i] = *count;  // RACE
}
