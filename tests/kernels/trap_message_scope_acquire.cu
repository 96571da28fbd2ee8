//@ verdict: race
//@ block: 64
//@ grid: 4
// The fence that acquires is of block scope.
extern "C" __global__ void trap_message_scope_acquire(int *flag, float *table, float *out) {
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
        __threadfence_block();
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];  // RACE
}
