//@ verdict: race
//@ block: 8
//@ grid: 2
// Broken: the number beside belongs to another lock.
extern "C" __global__ void lock_elements_broken(const int *bin, int *lock, int *low, int *high, int bins) {
    int t = blockIdx.x * 8 + threadIdx.x;
    int mine = bin[t];
    if (mine < 0 || mine >= bins) return;
    bool done = false;
    while (!done) {
        if (atomicExch(&lock[mine], 1) == 0) {
            __threadfence();
            if (t < low[mine]) low[mine] = t;  // RACE
            if (t > low[mine + 1]) low[mine + 1] = t;  // RACE
            __threadfence();
            atomicExch(&lock[mine], 0);
            done = true;
        }
    }
}
