//@ verdict: race
//@ block: 64
//@ grid: 4
// Broken: another block sets a bit of the word, and any bit is waited for.
extern "C" __global__ void message_bit_broken(int *flag, float *table, float *out) {
    if (blockIdx.x == 0) {
        table[threadIdx.x] = threadIdx.x * 0.5f;  // RACE
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicOr(flag, 4);
        }
        return;
    }
    if (blockIdx.x == 3 && threadIdx.x == 0) atomicOr(flag, 1);
    if (threadIdx.x == 0) {
        while (*(volatile int *)flag == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];  // RACE
}
