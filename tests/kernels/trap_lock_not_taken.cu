//@ verdict: race
//@ block: 8
//@ grid: 2
// One thread returns the lock although it has not taken it.
extern "C" __global__ void trap_lock_not_taken(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    if (t == 3) atomicExch(lock, 0);
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(lock, 0);
    seen[t] = old;
}
