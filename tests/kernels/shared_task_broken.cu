//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: thread 0 may take the next task before all have read the number of this one.
extern "C" __global__ void shared_task_broken(const float *in, float *out, int *next, int tasks) {
    __shared__ int task;
    for (;;) {
        if (threadIdx.x == 0) task = atomicAdd(next, 1); // RACE
        __syncthreads();
        int mine = task; // RACE
        if (mine >= tasks) return;
        atomicAdd(&out[mine], in[mine * 64 + threadIdx.x]);
    }
}
