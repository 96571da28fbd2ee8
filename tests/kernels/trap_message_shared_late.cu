//@ verdict: race
//@ block: 64
//@ grid: 1
// No barrier lies between the first store of the flag and the loads.
extern "C" __global__ void trap_message_shared_late(int *out, int number) {
    __shared__ int flag;
    __shared__ int box;
    if (threadIdx.x == 0) flag = 0;  // RACE
    if (threadIdx.x == 0) {
        box = number;  // RACE
        __threadfence_block();
        *(volatile int *)&flag = 1;
    } else {
        while (*(volatile int *)&flag == 0) {  // RACE
        }
        __threadfence_block();
        out[threadIdx.x] = box;  // RACE
    }
}
