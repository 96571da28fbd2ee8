//@ verdict: race
//@ block: 64
//@ grid: 4
//@ param: rounds=8
// The counter goes on, and two additions a round are more than the list has.
extern "C" __global__ void slots_rounds_not_reset_broken(const int *in, int *out, int rounds) {
    __shared__ unsigned count;
    __shared__ int list[64];
    int tid = threadIdx.x;
    if (tid == 0) count = 0;
    __syncthreads();
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        list[atomicAdd(&count, 1u) & 63] = in[r * 64 + tid];  // RACE
        if (in[r] > 0) list[atomicAdd(&count, 1u) & 63] = r;  // RACE
        __syncthreads();
        out[(blockIdx.x * rounds + r) * 64 + tid] = list[63 - tid];
        __syncthreads();
    }
}
