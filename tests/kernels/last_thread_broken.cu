//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: two threads of each block count.
extern "C" __global__ void last_thread_broken(const float *in, float *partial, float *out, unsigned *count, int n) {
    if (threadIdx.x > 1) return;
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) sum += in[blockIdx.x * n + i];
    partial[blockIdx.x * 2 + threadIdx.x] = sum;  // RACE
    __threadfence();
    if (atomicAdd(count, 1) != gridDim.x - 1) return;
    __threadfence();
    float total = 0;
#pragma unroll 1
    for (int i = 0; i < gridDim.x * 2; i++) total += partial[i];  // RACE
    out[0] = total;
}
