//@ verdict: race
//@ block: 32
//@ grid: 8
// The last block sets another counter back to 0, without a race, and gets a number that another block has had.
extern "C" __global__ void trap_last_block_tickets(int *at, int *x, unsigned *count) {
    if (threadIdx.x != 0) return;
    int mine = atomicAdd(at, 1);
    __threadfence();
    unsigned old = atomicAdd(count, 1);
    if (old == gridDim.x - 1) {
        __threadfence();
        *at = 0;
        int again = atomicAdd(at, 1);
        if (again == 0) *x = 2;  // RACE
    } else if (mine == 0) {
        *x = 1;  // RACE
    }
}
