//@ verdict: race
//@ block: 64
//@ grid: 4
// No barrier lies between what the block writes and the flag that its thread 0 sets.
extern "C" __global__ void trap_message_meet(int *flag, float *table, float *out) {
    if (blockIdx.x == 0) {
        table[threadIdx.x] = threadIdx.x * 0.5f;  // RACE
        if (threadIdx.x == 0) {
            __threadfence();
            *(volatile int *)flag = 1;
        }
        return;
    }
    if (threadIdx.x == 0) {
        while (*(volatile int *)flag == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];  // RACE
}
