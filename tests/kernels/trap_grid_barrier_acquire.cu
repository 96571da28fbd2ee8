//@ verdict: race
//@ block: 64
//@ grid: 4
// Nothing acquires what the others wrote.
extern "C" __global__ void trap_grid_barrier_acquire(float *x, float *y, unsigned *count) {
    int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = i;  // RACE
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < gridDim.x) {
        }
    }
    __syncthreads();
    y[i] = x[(i + 64) % (64 * gridDim.x)];  // RACE
}
