//@ verdict: verified
//@ block: 64
//@ grid: 4
// A barrier of all blocks made by hand: each adds 1 to a counter and waits until it has counted all.
extern "C" __global__ void grid_barrier(float *x, float *y, unsigned *count) {
    int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = x[(i + 64) % (64 * gridDim.x)];
}
