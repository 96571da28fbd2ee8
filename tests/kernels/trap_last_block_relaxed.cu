//@ verdict: race
//@ block: 32
//@ grid: 8
// The addition acquires, and nothing releases.
extern "C" __global__ void trap_last_block_relaxed(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];  // RACE
    __syncthreads();
    if (t == 0) {
        unsigned old;
        asm volatile("atom.add.acquire.gpu.u32 %0, [%1], %2;" : "=r"(old) : "l"(count), "r"(1) : "memory");
        last = old == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; i++) sum += partial[i * 32 + t];  // RACE
        out[t] = sum;
    }
}
