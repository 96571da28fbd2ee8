//@ verdict: race
//@ block: 64
//@ grid: 4
// The bit flips as soon as block 0 has come.
__device__ void all_blocks(unsigned *count) {
    __syncthreads();
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        unsigned amount = 1;
        if (blockIdx.x == 0) amount = 0x80000000u - (gridDim.x - 1);
        __threadfence();
        unsigned old = atomicAdd(count, amount);
        while (((old ^ *(volatile unsigned *)count) & 0x40000000u) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void trap_grid_flip_bit(float *x, float *y, unsigned *count, int rounds) {
    int i = blockIdx.x * 64 + threadIdx.x, n = 64 * gridDim.x;
    for (int r = 0; r < rounds; r++) {
        y[i] = x[(i + 64) % n];  // RACE
        all_blocks(count);
        x[i] = y[(i + 64) % n] + 1;  // RACE
        all_blocks(count);
    }
}
