//@ verdict: race
//@ block: 8
//@ grid: 2
// The sum is read before the lock is taken.
extern "C" __global__ void trap_lock_before(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    int old = *sum;  // RACE
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(lock, 0);
    seen[t] = old;
}
