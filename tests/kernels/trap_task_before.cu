//@ verdict: race
//@ block: 64
//@ grid: 4
// The number is read before the block has a new one.
extern "C" __global__ void trap_task_before(int *out, int *next) {
    __shared__ int task;
    if (threadIdx.x == 0) task = 7;
    __syncthreads();
    int mine = task;
    __syncthreads();
    if (threadIdx.x == 0) task = atomicAdd(next, 1);
    __syncthreads();
    out[mine * 64 + threadIdx.x] = task; // RACE
}
