//@ verdict: race
//@ block: 64
//@ grid: 4
// Atomics of two blocks with the scope of a block race with each other, and both may find 0.
extern "C" __global__ void trap_winner_scope(int *taken, int *where) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicCAS_block(taken, 0, 1) == 0) // RACE
        *where = i; // RACE
}
