//@ verdict: race
//@ block: 8
//@ grid: 2
// Broken: the locks are those of threads.
extern "C" __global__ void lock_elements_broken(const int *bin, int *lock, int *low, int *high, int bins) {
    int t = blockIdx.x * 8 + threadIdx.x;
    int mine = bin[t];
    if (mine < 0 || mine >= bins) return;
    bool done = false;
    while (!done) {
        if (atomicExch(&lock[t & 1], 1) == 0) {
            __threadfence();
            if (t < low[mine]) low[mine] = t;  // RACE
            if (t > high[mine]) high[mine] = t;  // RACE
            __threadfence();
            atomicExch(&lock[t & 1], 0);
            done = true;
        }
    }
}
