//@ verdict: race
//@ block: 64
//@ grid: 4
// The table is filled when the flag is set.
extern "C" __global__ void trap_message_late(int *flag, float *table, float *out) {
    if (blockIdx.x == 0) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *(volatile int *)flag = 1;
        }
        table[threadIdx.x] = threadIdx.x * 0.5f;  // RACE
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
