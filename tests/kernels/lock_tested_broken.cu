//@ verdict: race
//@ block: 8
//@ grid: 2
// Broken: it is only tested.
extern "C" __global__ void lock_tested_broken(volatile int *lock, int *sum) {
    for (;;) {
        if (*lock == 0) break;
    }
    __threadfence();
    *lock = 1;
    *sum += threadIdx.x;  // RACE
    __threadfence();
    *lock = 0;
}
