//@ verdict: possible-race
//@ block: 32
//@ grid: 8
// The first block sets the counter to 0, perhaps when others have counted themselves.
extern "C" __global__ void trap_last_block_set(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];  // RACE
    __syncthreads();
    if (t == 0 && blockIdx.x == 0) atomicExch(count, 0);
    if (t == 0) {
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
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
