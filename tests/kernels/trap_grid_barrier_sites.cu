//@ verdict: race
//@ block: 64
//@ grid: 4
// Two blocks count before they write, the other two when they have written.
extern "C" __global__ void trap_grid_barrier_sites(int *x, int *y, unsigned *count) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x < 2) {
        __threadfence();
        atomicAdd(count, 1);
        x[blockIdx.x] = blockIdx.x;  // RACE
    } else {
        x[blockIdx.x] = blockIdx.x;
        __threadfence();
        atomicAdd(count, 1);
    }
    while (*(volatile unsigned *)count != 4) {
    }
    __threadfence();
    y[blockIdx.x] = x[3 - blockIdx.x];  // RACE
}
