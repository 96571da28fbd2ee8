//@ verdict: race
//@ block: 64
//@ grid: 8
// Two blocks count and all wait for these two, so what the others have done nobody has counted.
extern "C" __global__ void trap_grid_barrier_some(float *x, float *y, unsigned *count) {
    int i = blockIdx.x * 64 + threadIdx.x;
    x[i] = i;  // RACE
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x < 2) {
            __threadfence();
            atomicAdd(count, 1);
        }
        while (*(volatile unsigned *)count != 2) {
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = x[(i + 192) % 512];  // RACE
}
