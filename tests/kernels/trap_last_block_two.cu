//@ verdict: race
//@ block: 32
//@ grid: 8
// Two threads of each block count.
extern "C" __global__ void trap_last_block_two(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) last = false;
    __syncthreads();
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];  // RACE
    __syncthreads();
    if (t < 2) {
        __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) last = true;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; i++) sum += partial[i * 32 + t];  // RACE
        out[blockIdx.x * 32 + t] = sum;
    }
}
