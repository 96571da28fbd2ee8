//@ verdict: verified
//@ block: 8
//@ grid: 2
// Each bin has its own lock, also for its two numbers; a thread takes one at a time.
extern "C" __global__ void lock_elements(const int *bin, int *lock, int *low, int *high, int bins) {
    int t = blockIdx.x * 8 + threadIdx.x;
    int mine = bin[t];
    if (mine < 0 || mine >= bins) return;
    bool done = false;
    while (!done) {
        if (atomicExch(&lock[mine], 1) == 0) {
            __threadfence();
            if (t < low[mine]) low[mine] = t;
            if (t > high[mine]) high[mine] = t;
            __threadfence();
            atomicExch(&lock[mine], 0);
            done = true;
        }
    }
}
