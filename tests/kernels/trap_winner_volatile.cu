//@ verdict: race
//@ block: 64
//@ grid: 4
// A volatile store is no race with atomics, and lets another one win.
extern "C" __global__ void trap_winner_volatile(int *taken, int *where) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicCAS(taken, 0, 1) == 0) {
        *where = i; // RACE
        *(volatile int *)taken = 0;
    }
}
