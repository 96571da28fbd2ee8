//@ verdict: race
//@ block: 32
//@ grid: 2
// Block 1 waits, with barriers in each round, for a plain store of block 0 that comes later in the text.
extern "C" __global__ void trap_task_other_block(int *flag) {
    __shared__ int seen;
    if (blockIdx.x != 0) {
        if (threadIdx.x == 0) flag[0] = 0; // RACE
        for (;;) {
            __syncthreads();
            if (threadIdx.x == 0) seen = flag[0]; // RACE
            __syncthreads();
            if (seen != 0) break;
        }
    } else if (threadIdx.x == 0) {
        flag[0] = 1; // RACE
    }
}
