//@ verdict: verified
//@ block: 32
//@ grid: 8
// Each thread has `.sc` fences of its own: one before the barrier behind which its block counts itself, one behind the next.
extern "C" __global__ void last_block_sequential(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];
    __threadfence();
    __syncthreads();
    if (t == 0) {
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; i++) sum += partial[i * 32 + t];
        out[t] = sum;
    }
}
