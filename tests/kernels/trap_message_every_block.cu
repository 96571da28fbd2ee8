//@ verdict: race
//@ block: 64
//@ grid: 4
// Each block fills the table and sets the flag, but the last one.
extern "C" __global__ void trap_message_every_block(int *flag, float *table, float *out) {
    if (blockIdx.x < 3) {
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
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];  // RACE
}
