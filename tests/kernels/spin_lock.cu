//@ verdict: verified
//@ block: 8
//@ grid: 2
// A spin lock around a sum that all threads change.
extern "C" __global__ void spin_lock(int *lock, int *sum, int *seen) {
    int t = blockIdx.x * 8 + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    int old = *sum;
    *sum = old + t;
    __threadfence();
    atomicExch(lock, 0);
    seen[t] = old;
}
