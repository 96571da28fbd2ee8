//@ verdict: race
//@ block: 64
//@ grid: 4
// Two tickets are one number: it is halved before it is told.
extern "C" __global__ void trap_task_half(int *out, int *next) {
    __shared__ int task;
    if (threadIdx.x == 0) task = atomicAdd(next, 1) / 2;
    __syncthreads();
    out[task * 64 + threadIdx.x] = 1; // RACE
}
