//@ verdict: race
//@ block: 64
//@ grid: 4
// Another thread's number stands where the block's was.
extern "C" __global__ void trap_task_overwritten(int *out, int *next, int n) {
    __shared__ int task;
    if (threadIdx.x == 0) task = atomicAdd(next, 1);
    if (n > 3 && threadIdx.x == 0) task = n;
    __syncthreads();
    out[task * 64 + threadIdx.x] = 1; // RACE
}
