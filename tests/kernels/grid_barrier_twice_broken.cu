//@ verdict: race
//@ block: 64
//@ grid: 4
// Broken: the second barrier uses the counter of the first one, which is full.
__device__ void meet(unsigned *count) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void grid_barrier_twice_broken(float *x, float *y, unsigned *first) {
    int i = blockIdx.x * 64 + threadIdx.x, j = (i + 64) % (64 * gridDim.x);
    x[i] = i;
    meet(first);
    y[i] = x[j];  // RACE
    meet(first);
    x[i] = y[j];  // RACE
}
