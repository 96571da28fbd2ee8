//@ verdict: race
//@ block: 64
//@ grid: 4
// No thread of this block takes a task.
extern "C" __global__ void trap_task_nobody(int *out, int *next) {
    __shared__ int task;
    if (threadIdx.x == 0) task = 0;
    __syncthreads();
    if (threadIdx.x == 64) task = atomicAdd(next, 1);
    __syncthreads();
    out[task * 64 + threadIdx.x] = 1; // RACE
}
