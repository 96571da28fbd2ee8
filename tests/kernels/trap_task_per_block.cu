//@ verdict: race
//@ block: 64
//@ grid: 4
// Each block has a counter of its own.
extern "C" __global__ void trap_task_per_block(int *out, int *next) {
    __shared__ int task;
    if (threadIdx.x == 0) task = atomicAdd(&next[blockIdx.x], 1);
    __syncthreads();
    out[task * 64 + threadIdx.x] = 1; // RACE
}
