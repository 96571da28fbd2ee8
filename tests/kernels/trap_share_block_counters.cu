//@ verdict: race
//@ block: 64
//@ grid: 4
// Each block has a counter of its own, and all write one array.
extern "C" __global__ void trap_share_block_counters(int *out, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, base = 0;
    unsigned all = __ballot_sync(0xffffffffu, i >= 0);
    if (lane == 0) base = atomicAdd(&count[blockIdx.x], __popc(all));
    base = __shfl_sync(0xffffffffu, base, 0);
    out[base + __popc(all & ((1u << lane) - 1))] = i; // RACE
}
