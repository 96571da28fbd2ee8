//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: of 32 places all but the first half are the next block's.
extern "C" __global__ void slots_of_block_broken(const int *in, int *out, int *count) {
    __shared__ int end;
    if (threadIdx.x == 0) end = atomicAdd(count, 32) + 64;
    __syncthreads();
    out[end - 1 - threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x]; // RACE
}
