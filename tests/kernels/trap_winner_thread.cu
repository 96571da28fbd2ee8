//@ verdict: race
//@ block: 64
//@ grid: 4
// What is written may be what was there.
extern "C" __global__ void trap_winner_thread(const int *in, int *taken, int *where) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicExch(taken, in[i]) == 0) *where = i; // RACE
}
