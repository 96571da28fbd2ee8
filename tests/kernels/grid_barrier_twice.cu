//@ verdict: verified
//@ block: 64
//@ grid: 4
// Two barriers of all blocks with a counter each, one after the other.
__device__ void meet(unsigned *count) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count != gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void grid_barrier_twice(float *x, float *y, unsigned *first, unsigned *second) {
    int i = blockIdx.x * 64 + threadIdx.x, j = (i + 64) % (64 * gridDim.x);
    x[i] = i;
    meet(first);
    y[i] = x[j];
    meet(second);
    x[i] = y[j];
}
