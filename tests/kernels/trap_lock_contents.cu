//@ verdict: race
//@ block: 8
//@ grid: 1
// What the threads before stored under the lock is what a thread reads, not what the block had at its barrier.
extern "C" __global__ void trap_lock_contents(int *x) {
    __shared__ int lock;
    __shared__ int turn;
    if (threadIdx.x == 0) {
        lock = 0;
        turn = 0;
    }
    __syncthreads();
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    int mine = turn;
    turn = mine + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
    if (mine != 0) *x = threadIdx.x;  // RACE
}
