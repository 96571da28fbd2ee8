//@ verdict: race
//@ block: 64
//@ grid: 1
// What thread 0 stored behind the barrier is what the others read, not what the block had there.
extern "C" __global__ void trap_message_contents(int *x) {
    __shared__ int flag;
    __shared__ int box;
    if (threadIdx.x == 0) {
        flag = 0;
        box = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        box = 7;
        __threadfence_block();
        *(volatile int *)&flag = 1;
    } else {
        while (*(volatile int *)&flag == 0) {
        }
        __threadfence_block();
        if (box != 0) *x = threadIdx.x;  // RACE
    }
}
