//@ verdict: race
//@ block: 64
//@ grid: 4
// What is written is 0 in one round.
extern "C" __global__ void trap_winner_round(int *taken, int *where, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = n; k >= 0; k--)
        if (atomicExch(taken, k) == 0) *where = i; // RACE
}
