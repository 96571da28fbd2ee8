//@ verdict: race
//@ block: 64
//@ grid: 4
// The table is read before the flag is waited for, too.
extern "C" __global__ void trap_message_before(int *flag, float *table, float *out) {
    if (blockIdx.x == 0) {
        table[threadIdx.x] = threadIdx.x * 0.5f;  // RACE
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *(volatile int *)flag = 1;
        }
        return;
    }
    out[256 + blockIdx.x * 64 + threadIdx.x] = table[threadIdx.x];  // RACE
    if (threadIdx.x == 0) {
        while (*(volatile int *)flag == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];  // RACE
}
