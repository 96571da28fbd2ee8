//@ verdict: race
//@ block: 32
//@ grid: 8
// Another thread reads before it knows that the block that counts is the last one.
extern "C" __global__ void trap_last_block_before(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];  // RACE
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    if (t == 1) out[32] = partial[(blockIdx.x + 1) % gridDim.x * 32];  // RACE
    __syncthreads();
    if (last) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; i++) sum += partial[i * 32 + t];
        out[t] = sum;
    }
}
