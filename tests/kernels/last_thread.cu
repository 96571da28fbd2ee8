//@ verdict: verified
//@ block: 64
//@ grid: 8
// One thread of each block adds up its numbers, and that of the last block adds up the sums: without barriers.
extern "C" __global__ void last_thread(const float *in, float *partial, float *out, unsigned *count, int n) {
    if (threadIdx.x != 0) return;
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) sum += in[blockIdx.x * n + i];
    partial[blockIdx.x] = sum;
    __threadfence();
    if (atomicAdd(count, 1) != gridDim.x - 1) return;
    __threadfence();
    float total = 0;
#pragma unroll 1
    for (int i = 0; i < gridDim.x; i++) total += partial[i];
    out[0] = total;
}
