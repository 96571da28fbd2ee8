//@ verdict: race
//@ block: 64
//@ grid: 1
// Nothing sets the flag to 0 at first.
extern "C" __global__ void trap_message_shared_start(int *out, int number) {
    __shared__ int flag;
    __shared__ int box;
    if (threadIdx.x == 0) {
        box = number;  // RACE
        __threadfence_block();
        *(volatile int *)&flag = 1;
    } else {
        while (*(volatile int *)&flag == 0) {
        }
        __threadfence_block();
        out[threadIdx.x] = box;  // RACE
    }
}
