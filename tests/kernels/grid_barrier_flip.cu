//@ verdict: verified
//@ block: 64
//@ grid: 4
// A barrier of all blocks that flips the highest bit of a word, for any number of rounds.
__device__ void all_blocks(unsigned *count) {
    __syncthreads();
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        unsigned amount = 1;
        if (blockIdx.x == 0) amount = 0x80000000u - (gridDim.x - 1);
        __threadfence();
        unsigned old = atomicAdd(count, amount);
        while (((old ^ *(volatile unsigned *)count) & 0x80000000u) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void grid_barrier_flip(float *x, float *y, unsigned *count, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    for (int r = 0; r < rounds; r++) {
        y[i] = x[(i + 64) % n];
        all_blocks(count);
        x[i] = y[(i + 64) % n] + 1;
        all_blocks(count);
    }
}
