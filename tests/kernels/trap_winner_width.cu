//@ verdict: race
//@ block: 64
//@ grid: 4
// Half of the word is set back.
extern "C" __global__ void trap_winner_width(unsigned *taken, int *where) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicCAS(taken, 0u, 1u) == 0) // RACE
        *where = i; // RACE
    if (i == 5) atomicCAS((unsigned short *)taken, (unsigned short)1, (unsigned short)0); // RACE
}
