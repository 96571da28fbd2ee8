//@ verdict: race
//@ block: 64
//@ grid: 1
// The barrier of the loop is passed by in rounds in which a thread waits for a plain store that comes later in the text.
extern "C" __global__ void trap_task_sometimes(int *out) {
    __shared__ int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x != 0) {
        while (true) {
            int now = ready; // RACE
            asm volatile("");
            if (now == 2) __syncthreads(); // never: the other threads are not here
            if (now == 1) break;
            out[threadIdx.x] = now;
        }
    } else {
        ready = 1; // RACE
    }
}
