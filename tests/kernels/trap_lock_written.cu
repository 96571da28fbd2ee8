//@ verdict: race
//@ block: 8
//@ grid: 2
// The number that is written takes no lock.
extern "C" __global__ void trap_lock_written(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 0) != 0) {
    }
    __threadfence();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(lock, 0);
    seen[t] = old;
}
