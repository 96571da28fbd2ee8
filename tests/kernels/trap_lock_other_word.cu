//@ verdict: race
//@ block: 8
//@ grid: 2
// A thread returns another lock than the one that it has taken.
extern "C" __global__ void trap_lock_other_word(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(&lock[t & 1], 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(&lock[1 - (t & 1)], 0);
    seen[t] = old;
}
