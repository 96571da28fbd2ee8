//@ verdict: race
//@ block: 8
//@ grid: 2
// The fences are of block scope, and other blocks take the lock, too.
extern "C" __global__ void trap_lock_scope(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence_block();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    __threadfence_block();
    atomicExch(lock, 0);
    seen[t] = old;
}
