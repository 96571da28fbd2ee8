//@ verdict: race
//@ block: 64
//@ grid: 4
// Each warp counts.
extern "C" __global__ void trap_grid_barrier_each(float *x, float *y, unsigned *count) {
    int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = i;  // RACE
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = x[(i + 64) % (64 * gridDim.x)];  // RACE
}
