//@ verdict: race
//@ block: 8
//@ grid: 2
// The fence that releases comes before the last access.
extern "C" __global__ void trap_lock_other_fence(int *lock, int *sum) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;  // RACE
    __threadfence();
    *sum = old + threadIdx.x;  // RACE
    atomicExch(lock, 0);
}
