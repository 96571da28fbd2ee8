//@ verdict: race
//@ block: 64
//@ grid: 4
//@ param: rounds=8
// Each thread takes two slots a round, more than the list has.
extern "C" __global__ void trap_slots_rounds_twice(const int *in, int *out, int rounds) {
    __shared__ unsigned count;
    __shared__ int list[64];
    int tid = threadIdx.x;
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        __syncthreads();
        if (tid == 0) count = 0;
        __syncthreads();
        list[atomicAdd(&count, 1u) & 63] = in[r * 64 + tid];  // RACE
        list[atomicAdd(&count, 1u) & 63] = in[r * 64 + tid] + 1;  // RACE
    }
    __syncthreads();
    out[blockIdx.x * 64 + tid] = list[63 - tid];
}
