//@ verdict: race
//@ block: 64
//@ grid: 4
// What is added may be more than 1.
extern "C" __global__ void trap_grid_barrier_step(float *x, float *y, unsigned *count) {
    int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = i;  // RACE
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, blockIdx.x + 1);
        while (*(volatile unsigned *)count < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = x[(i + 64) % (64 * gridDim.x)];  // RACE
}
