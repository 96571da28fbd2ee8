//@ verdict: race
//@ block: 64
//@ grid: 4
// Any number may be written to the flag.
extern "C" __global__ void trap_message_data(int *flag, float *table, float *out, int number) {
    if (blockIdx.x == 0) {
        table[threadIdx.x] = threadIdx.x * 0.5f;  // RACE
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *(volatile int *)flag = 1;
        }
        return;
    }
    if (blockIdx.x == 3 && threadIdx.x == 0) *(volatile int *)flag = number;
    if (threadIdx.x == 0) {
        while (*(volatile int *)flag == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];  // RACE
}
