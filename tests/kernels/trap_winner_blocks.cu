//@ verdict: race
//@ block: 64
//@ grid: 4
// Each block has its winner, and all have one place.
extern "C" __global__ void trap_winner_blocks(int *where) {
    __shared__ int taken;
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    if (atomicExch(&taken, 1) == 0) *where = threadIdx.x; // RACE
}
