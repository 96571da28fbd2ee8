//@ verdict: verified
//@ block: 64
//@ grid: 1
// Thread 0 hands a number to the others of its block, by a flag in shared memory.
extern "C" __global__ void message_shared(int *out, int number) {
    __shared__ int flag;
    __shared__ int box;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        box = number;
        __threadfence_block();
        *(volatile int *)&flag = 1;
    } else {
        while (*(volatile int *)&flag == 0) {
        }
        __threadfence_block();
        out[threadIdx.x] = box;
    }
}
