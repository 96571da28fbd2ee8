//@ verdict: race
//@ block: 64
//@ grid: 4
//@ param: rounds=8
// Only every other round has a barrier, so slots of two rounds meet.
extern "C" __global__ void trap_slots_rounds_path(const int *in, int *out, int rounds) {
    __shared__ unsigned count;
    __shared__ int list[64];
    int tid = threadIdx.x;
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        if (r % 2 == 0) {
            __syncthreads();
            if (tid == 0) count = 0;
            __syncthreads();
        }
        list[atomicAdd(&count, 1u) & 63] = in[r * 64 + tid];  // RACE
    }
    __syncthreads();
    out[blockIdx.x * 64 + tid] = list[63 - tid];
}
