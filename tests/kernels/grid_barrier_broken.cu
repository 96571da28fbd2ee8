//@ verdict: race
//@ block: 64
//@ grid: 4
// Broken: nothing releases what the block wrote.
extern "C" __global__ void grid_barrier_broken(float *x, float *y, unsigned *count) {
    int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = i;  // RACE
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = x[(i + 64) % (64 * gridDim.x)];  // RACE
}
