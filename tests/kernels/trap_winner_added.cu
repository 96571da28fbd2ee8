//@ verdict: race
//@ block: 64
//@ grid: 4
// An addition sets it back.
extern "C" __global__ void trap_winner_added(unsigned *taken, int *where) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicCAS(taken, 0u, 1u) == 0) *where = i; // RACE
    if (i == 5) atomicAdd(taken, 0xffffffffu);
}
