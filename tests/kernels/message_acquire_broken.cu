//@ verdict: race
//@ block: 64
//@ grid: 4
// Broken: the loads are relaxed.
extern "C" __global__ void message_acquire_broken(int *flag, float *table, float *out) {
    if (blockIdx.x == 0) {
        table[threadIdx.x] = threadIdx.x * 0.5f;  // RACE
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("st.release.gpu.s32 [%0], 1;" ::"l"(flag) : "memory");
        }
        return;
    }
    if (threadIdx.x == 0) {
        int seen;
        do asm volatile("ld.relaxed.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen != 1);
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = table[(threadIdx.x + 1) % 64];  // RACE
}
