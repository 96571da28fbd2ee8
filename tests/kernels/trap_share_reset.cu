//@ verdict: race
//@ block: 64
//@ grid: 4
// The leader sets the counter back by an exchange.
extern "C" __global__ void trap_share_reset(int *out, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, base = 0;
    unsigned all = __ballot_sync(0xffffffffu, i >= 0);
    if (lane == 0) base = atomicAdd(count, __popc(all));
    base = __shfl_sync(0xffffffffu, base, 0);
    out[base + __popc(all & ((1u << lane) - 1))] = i; // RACE
    if (lane == 0) atomicExch(count, 0);
}
