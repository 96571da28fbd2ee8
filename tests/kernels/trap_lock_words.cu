//@ verdict: race
//@ block: 8
//@ grid: 2
// There are two locks for one sum.
extern "C" __global__ void trap_lock_words(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(&lock[t & 1], 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;  // RACE
    *sum = old + t;  // RACE
    __threadfence();
    atomicExch(&lock[t & 1], 0);
    seen[t] = old;
}
