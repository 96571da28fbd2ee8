//@ verdict: race
//@ block: 64
//@ grid: 1
// Broken: nothing releases the number.
extern "C" __global__ void message_shared_broken(int *out, int number) {
    __shared__ int flag;
    __shared__ int box;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        box = number;  // RACE
        *(volatile int *)&flag = 1;
    } else {
        while (*(volatile int *)&flag == 0) {
        }
        __threadfence_block();
        out[threadIdx.x] = box;  // RACE
    }
}
