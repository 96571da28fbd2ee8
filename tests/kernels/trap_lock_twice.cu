//@ verdict: race
//@ block: 8
//@ grid: 2
// A thread returns the lock twice, the second time perhaps for another one.
extern "C" __global__ void trap_lock_twice(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(lock, 0);
    atomicExch(lock, 0);
    seen[t] = old;
}
