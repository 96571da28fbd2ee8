//@ verdict: race
//@ block: 64
//@ grid: 2
// One thread of each warp counts, so what the other threads have done nobody has counted.
extern "C" __global__ void trap_grid_barrier_warps(float *x, float *y, unsigned *count) {
    int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = i;  // RACE
    if (threadIdx.x % 32 == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < 4) {
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = x[i ^ 64];  // RACE
}
