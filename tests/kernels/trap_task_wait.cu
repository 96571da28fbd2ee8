//@ verdict: race
//@ block: 64
//@ grid: 1
// A loop with barriers, in which threads wait for a plain store that comes later in the text: contents that do not change
// would keep them there, and hide the race behind it.
extern "C" __global__ void trap_task_wait(int *out, int rounds) {
    __shared__ int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    int left = rounds;
    for (;;) {
        __syncthreads();
        int limit = 0;
        if (threadIdx.x != 0) {
            limit = ready; // RACE
            for (int k = 0; k < 1; k += limit) out[threadIdx.x] = k;
        } else {
            ready = 1; // RACE
        }
        if (--left <= 0) break;
    }
}
