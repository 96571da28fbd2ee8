//@ verdict: verified
//@ block: 64
//@ grid: 56
//@ param: tasks=20000
// Blocks take tasks from a queue until it is empty.

extern "C" __global__ void work_queue(const float *in, float *out, int *next, int tasks) {
    __shared__ int task;
    while (true) {
        if (threadIdx.x == 0) task = atomicAdd(next, 1);
        __syncthreads();
        int mine = task;
        __syncthreads();
        if (mine >= tasks) break;
        float value = in[mine * 64 + threadIdx.x];
        atomicAdd(&out[mine], value * value);
    }
}
