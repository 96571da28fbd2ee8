//@ verdict: race
//@ block: 8
//@ grid: 2
// Some threads return the lock without a fence.
extern "C" __global__ void trap_lock_some_ways(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    if (t & 1) __threadfence();
    atomicExch(lock, 0);
    seen[t] = old;
}
