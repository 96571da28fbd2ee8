//@ verdict: race
//@ block: 8
//@ grid: 2
// Broken: nothing acquires what the thread before wrote.
extern "C" __global__ void spin_lock_broken(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(lock, 0);
    seen[t] = old;
}
