//@ verdict: race
//@ block: 8
//@ grid: 2
// A plain store returns the lock.
extern "C" __global__ void trap_lock_plain(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {  // RACE
    }
    __threadfence();
    int old = *sum;
    *sum = old + t;
    __threadfence();
    *lock = 0;  // RACE
    seen[t] = old;
}
