//@ verdict: race
//@ block: 8
//@ grid: 2
// Who reads takes no lock.
extern "C" __global__ void trap_lock_read_only(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(lock, 0);
    if (t == 0) seen[t] = *sum;  // RACE
}
