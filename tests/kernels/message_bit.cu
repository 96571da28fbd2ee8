//@ verdict: verified
//@ block: 64
//@ grid: 4
// A bit of a word says that the table is full.
extern "C" __global__ void message_bit(int *flag, float *table, float *out) {
    if (blockIdx.x == 0) {
        table[threadIdx.x] = threadIdx.x * 0.5f;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicOr(flag, 4);
        }
        return;
    }
    if (threadIdx.x == 0) {
        while ((*(volatile int *)flag & 4) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];
}
