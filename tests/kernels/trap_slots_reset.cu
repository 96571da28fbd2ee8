//@ verdict: race
//@ block: 64
//@ grid: 8
// The counter of a block starts again behind a barrier, so slots repeat, and out is not of the block alone.
extern "C" __global__ void trap_slots_reset(const int *in, int *out) {
    __shared__ unsigned count;
    int tid = threadIdx.x;
    if (tid == 0) count = 0;
    __syncthreads();
    out[atomicAdd(&count, 1u)] = in[tid]; // RACE
    __syncthreads();
    if (tid == 0) count = 0;
    __syncthreads();
    out[atomicAdd(&count, 1u)] = in[tid]; // RACE
}
