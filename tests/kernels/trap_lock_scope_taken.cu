//@ verdict: race
//@ block: 8
//@ grid: 2
// The lock is taken at block scope.
extern "C" __global__ void trap_lock_scope_taken(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS_block(lock, 0, 1) != 0) {  // RACE
    }
    __threadfence();
    int old = *sum;
    *sum = old + t;
    __threadfence();
    atomicExch(lock, 0);  // RACE
    seen[t] = old;
}
