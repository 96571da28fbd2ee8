//@ verdict: race
//@ block: 64
//@ grid: 4
// Each swap may undo the other one.
extern "C" __global__ void trap_winner_swapped_back(int *taken, int *where) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicCAS(taken, 0, 1) == 0) *where = i; // RACE
    atomicCAS(taken, 1, 0);
}
