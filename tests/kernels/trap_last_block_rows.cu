//@ verdict: race
//@ block: 32,2
//@ grid: 8
// Two threads of each block count: the block has two rows.
extern "C" __global__ void trap_last_block_rows(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0 && threadIdx.y == 0) last = false;
    __syncthreads();
    partial[(blockIdx.x * 2 + threadIdx.y) * 32 + t] = in[blockIdx.x * 32 + t];  // RACE
    __syncthreads();
    if (t == 0) {
        __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) last = true;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x * 2; i++) sum += partial[i * 32 + t];  // RACE
        if (threadIdx.y == 0) out[t] = sum;
    }
}
