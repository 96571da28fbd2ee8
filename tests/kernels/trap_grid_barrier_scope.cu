//@ verdict: race
//@ block: 64
//@ grid: 4
// The counter is one of the block.
extern "C" __global__ void trap_grid_barrier_scope(float *x, float *y, unsigned *count) {
    int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd_block(count, 1);  // RACE
        while (*(volatile unsigned *)count < gridDim.x) {  // RACE
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = x[(i + 64) % (64 * gridDim.x)];
}
