//@ verdict: possible-race
//@ block: 64
//@ grid: 4
// Nothing says that what is written is not what is compared with.
extern "C" __global__ void trap_winner_parameter(int *level, int *where, int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicCAS(level, -1, depth) == -1) *where = i; // RACE
}
