//@ verdict: race
//@ block: 8
//@ grid: 2
// Whoever does not get the lock goes on without it.
extern "C" __global__ void trap_lock_once(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    if (atomicCAS(lock, 0, 1) != 0) seen[t] = 0;
    __threadfence();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(lock, 0);

}
