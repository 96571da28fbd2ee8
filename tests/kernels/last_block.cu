//@ verdict: verified
//@ block: 32
//@ grid: 8
// The last block to count itself sums up what all blocks wrote: fence, atomic and fence by one thread, between two barriers.
extern "C" __global__ void last_block(const float *in, float *partial, float *out, unsigned *count) {
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 32 + t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; i++) sum += partial[i * 32 + t];
        out[t] = sum;
    }
}
