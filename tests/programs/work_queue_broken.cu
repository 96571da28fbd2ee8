//@ verdict: race
//@ block: 64
//@ grid: 56
//@ param: tasks=20000
// Broken: the first thread takes the next task while others still read this one's number.

extern "C" __global__ void work_queue_broken(const float *in, float *out, int *next, int tasks) {
    __shared__ int task;
    while (true) {
        if (threadIdx.x == 0) task = atomicAdd(next, 1);  // RACE
        __syncthreads();
        int mine = task;  // RACE
        if (mine >= tasks) break;
        float value = in[mine * 64 + threadIdx.x];
        atomicAdd(&out[mine], value * value);
    }
}
