//@ verdict: race
//@ block: 32
//@ grid: 8
// There are two counters.
extern "C" __global__ void trap_last_block_counters(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];  // RACE
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicAdd(&count[blockIdx.x & 1], 1) == gridDim.x / 2 - 1;
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
