//@ verdict: verified
//@ block: 64
//@ grid: 8
// Thread 0 takes 64 places for its block, and tells where they end.
extern "C" __global__ void slots_of_block(const int *in, int *out, int *count) {
    __shared__ int end;
    if (threadIdx.x == 0) end = atomicAdd(count, 64) + 64;
    __syncthreads();
    out[end - 1 - threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
}
