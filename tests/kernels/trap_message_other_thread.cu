//@ verdict: race
//@ block: 64
//@ grid: 4
// The thread that should wait does not exist.
extern "C" __global__ void trap_message_other_thread(int *flag, float *table, float *out) {
    if (blockIdx.x == 0) {
        table[threadIdx.x] = threadIdx.x * 0.5f;  // RACE
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *(volatile int *)flag = 1;
        }
        return;
    }
    if (threadIdx.x == 64) {
        while (*(volatile int *)flag == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];  // RACE
}
