//@ verdict: race
//@ block: 8
//@ grid: 2
// The sum is changed when the lock has been returned.
extern "C" __global__ void trap_lock_after(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;  // RACE
    __threadfence();
    atomicExch(lock, 0);
    *sum = old + t;  // RACE
    seen[t] = old;
}
