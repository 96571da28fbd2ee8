//@ verdict: race
//@ block: 8
//@ grid: 2
// Whoever finds the lock taken goes on.
extern "C" __global__ void trap_lock_value(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 1) {
    }
    __threadfence();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(lock, 0);
    seen[t] = old;
}
