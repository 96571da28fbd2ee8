//@ verdict: race
//@ block: 32
//@ grid: 8
// The thread that counts writes behind its fence.
extern "C" __global__ void trap_last_block_after(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    if (t != 0) partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    if (t == 0) {
        __threadfence();
        partial[blockIdx.x * 32] = in[blockIdx.x * 32];  // RACE
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; i++) sum += partial[i * 32 + t];  // RACE
        out[t] = sum;
    }
}
