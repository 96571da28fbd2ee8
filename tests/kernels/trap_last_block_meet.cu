//@ verdict: race
//@ block: 32
//@ grid: 8
// Who waits is not who counts: the barrier is in front of the fences of the threads, and these are no `.sc`.
extern "C" __global__ void trap_last_block_meet(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];  // RACE
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
    }
    __syncthreads();
    if (last) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; i++) sum += partial[i * 32 + t];  // RACE
        out[t] = sum;
    }
}
