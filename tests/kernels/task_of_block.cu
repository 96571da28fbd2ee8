//@ verdict: verified
//@ block: 64
//@ grid: 8
// Blocks take tasks as long as there are any: thread 0 for all, by way of shared memory.
extern "C" __global__ void task_of_block(const float *in, float *out, int *next, int tasks) {
    __shared__ int task;
    for (;;) {
        if (threadIdx.x == 0) task = atomicAdd(next, 1);
        __syncthreads();
        int mine = task;
        __syncthreads();
        if (mine >= tasks) return;
        long long at = mine * 64ll + threadIdx.x;
        out[at] = in[at] * blockIdx.x;
    }
}
