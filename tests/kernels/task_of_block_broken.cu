//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: two counters give two blocks one task.
extern "C" __global__ void task_of_block_broken(const float *in, float *out, int *next, int tasks) {
    __shared__ int task;
    for (;;) {
        if (threadIdx.x == 0) task = atomicAdd(&next[blockIdx.x & 1], 1);
        __syncthreads();
        int mine = task;
        __syncthreads();
        if (mine >= tasks) return;
        long long at = mine * 64ll + threadIdx.x;
        out[at] = in[at] * blockIdx.x; // RACE
    }
}
