//@ verdict: race
//@ block: 2
//@ grid: 1
// Thread 0 sets the counter back before thread 1 counts, so both get one number.
extern "C" __global__ void trap_message_tickets(int *out) {
    __shared__ int flag;
    __shared__ int cursor;
    if (threadIdx.x == 0) {
        flag = 0;
        cursor = 0;
    }
    __syncthreads();
    int mine;
    if (threadIdx.x == 0) {
        mine = atomicAdd(&cursor, 1);
        cursor = 0;
        __threadfence_block();
        *(volatile int *)&flag = 1;
    } else {
        while (*(volatile int *)&flag == 0) {
        }
        __threadfence_block();
        mine = atomicAdd(&cursor, 1);
    }
    out[mine] = threadIdx.x;  // RACE
}
