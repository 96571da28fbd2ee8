//@ verdict: race
//@ block: 64
//@ grid: 4
// No barrier lies between what a block writes and its count.
extern "C" __global__ void trap_grid_barrier_meet(float *x, float *y, unsigned *count) {
    int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = i;  // RACE
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = x[(i + 64) % (64 * gridDim.x)];  // RACE
}
