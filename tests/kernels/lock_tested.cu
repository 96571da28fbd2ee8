//@ verdict: verified
//@ block: 8
//@ grid: 2
// A lock that is tested before it is taken, and returned by a volatile store.
extern "C" __global__ void lock_tested(volatile int *lock, int *sum) {
    for (;;) {
        if (*lock == 0 && atomicCAS((int *)lock, 0, 1) == 0) break;
    }
    __threadfence();
    *sum += threadIdx.x;
    __threadfence();
    *lock = 0;
}
