//@ verdict: race
//@ block: 64
//@ grid: 4
// Only thread 0 of a block knows of the flag: there is no barrier.
extern "C" __global__ void trap_message_meet_told(int *flag, float *table, float *out) {
    if (blockIdx.x == 0) {
        table[threadIdx.x] = threadIdx.x * 0.5f;  // RACE
        __syncthreads();
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
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];  // RACE
}
