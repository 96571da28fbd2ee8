//@ verdict: race
//@ block: 32
//@ grid: 8
// A fence at block scope acquires from the own block only.
extern "C" __global__ void trap_last_block_scope_after(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];  // RACE
    __syncthreads();
    if (t == 0) {
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        __threadfence_block();
    }
    __syncthreads();
    if (last) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; i++) sum += partial[i * 32 + t];  // RACE
        out[t] = sum;
    }
}
