//@ verdict: race
//@ block: 8
//@ grid: 2
// Nothing releases what a thread wrote.
extern "C" __global__ void trap_lock_release(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    atomicExch(lock, 0);
    seen[t] = old;
}
