//@ verdict: verified
//@ block: 64
//@ grid: 4
//@ param: rounds=8
// The counter goes on: in each round the slots are as many as the list has, wherever they begin.
extern "C" __global__ void slots_rounds_not_reset(const int *in, int *out, int rounds) {
    __shared__ unsigned count;
    __shared__ int list[64];
    int tid = threadIdx.x;
    if (tid == 0) count = 0;
    __syncthreads();
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        list[atomicAdd(&count, 1u) & 63] = in[r * 64 + tid];
        __syncthreads();
        out[(blockIdx.x * rounds + r) * 64 + tid] = list[63 - tid];
        __syncthreads();
    }
}
