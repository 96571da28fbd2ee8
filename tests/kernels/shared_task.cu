//@ verdict: verified
//@ block: 64
//@ grid: 8
// Thread 0 takes a task for the block; all threads read its number between the same two barriers, so they leave together.
extern "C" __global__ void shared_task(const float *in, float *out, int *next, int tasks) {
    __shared__ int task;
    for (;;) {
        if (threadIdx.x == 0) task = atomicAdd(next, 1);
        __syncthreads();
        int mine = task;
        __syncthreads();
        if (mine >= tasks) return;
        atomicAdd(&out[mine], in[mine * 64 + threadIdx.x]);
    }
}
