//@ verdict: divergence
//@ block: 64
//@ grid: 1
// Each thread has its own task in shared memory, so they leave in different rounds.
extern "C" __global__ void trap_task_skip(const int *in, int *out) {
    __shared__ int tasks[64];
    for (int round = 0;; round++) {
        tasks[threadIdx.x] = in[threadIdx.x] + round;
        __syncthreads(); // DIVERGENCE
        int mine = tasks[63 - threadIdx.x];
        __syncthreads();
        if (mine > 5) return;
        out[threadIdx.x] = mine;
    }
}
