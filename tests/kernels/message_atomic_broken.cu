//@ verdict: race
//@ block: 64
//@ grid: 4
// Broken: the exchange is of block scope.
extern "C" __global__ void message_atomic_broken(int *flag, float *table, float *out) {
    if (blockIdx.x == 0) {
        table[threadIdx.x] = threadIdx.x * 0.5f;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch_block(flag, 1);  // RACE
        }
        return;
    }
    if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) != 1) {  // RACE
        }
        __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];
}
