//@ verdict: race
//@ block: 8
//@ grid: 2
// Others change the lock by additions.
extern "C" __global__ void trap_lock_add(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    if (t == 3) atomicAdd(lock, -1);
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(lock, 0);
    seen[t] = old;
}
