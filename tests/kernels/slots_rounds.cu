//@ verdict: verified
//@ block: 64
//@ grid: 4
//@ param: rounds=8
// A list of each round: thread 0 resets the counter, and a barrier stands between.
extern "C" __global__ void slots_rounds(const int *in, int *out, int rounds) {
    __shared__ unsigned count;
    __shared__ int list[64];
    int tid = threadIdx.x;
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        if (tid == 0) count = 0;
        __syncthreads();
        int value = in[r * 64 + tid];
        if (value > 0) list[atomicAdd(&count, 1u)] = value;
        __syncthreads();
        if (tid < count) out[(blockIdx.x * rounds + r) * 64 + tid] = list[tid];
        __syncthreads();
    }
}
