//@ verdict: race
//@ block: 8
//@ grid: 2
// The fence that acquires comes behind the read.
extern "C" __global__ void trap_lock_fence_late(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    int old = *sum;  // RACE
    __threadfence();
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(lock, 0);
    seen[t] = old;
}
