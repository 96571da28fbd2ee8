//@ verdict: race
//@ block: 64
//@ grid: 4
//@ param: rounds=8
// The slots of a round are those of the round before, which is still read.
extern "C" __global__ void trap_slots_rounds_again(const int *in, int *out, int rounds) {
    __shared__ unsigned count;
    __shared__ int list[64];
    int tid = threadIdx.x;
    if (tid == 0) count = 0;
    __syncthreads();
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        list[atomicAdd(&count, 1u) & 63] = in[r * 64 + tid];  // RACE
        __syncthreads();
        out[(blockIdx.x * rounds + r) * 64 + tid] = list[63 - tid];  // RACE
    }
}
