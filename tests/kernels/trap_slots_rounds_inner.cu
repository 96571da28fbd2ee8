//@ verdict: race
//@ block: 64
//@ grid: 4
//@ param: rounds=8
// The inner loop takes slots without a barrier between its rounds.
extern "C" __global__ void trap_slots_rounds_inner(const int *in, int *out, int rounds) {
    __shared__ unsigned count;
    __shared__ int list[64];
    int tid = threadIdx.x;
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        __syncthreads();
        if (tid == 0) count = 0;
        __syncthreads();
        #pragma unroll 1
        for (int k = 0; k < in[r]; k++)
            list[atomicAdd(&count, 1u) & 63] = k * 64 + tid;  // RACE
    }
    __syncthreads();
    out[blockIdx.x * 64 + tid] = list[63 - tid];
}
