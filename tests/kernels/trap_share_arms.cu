//@ verdict: race
//@ block: 64
//@ grid: 1
// Lanes that have parted vote together: those of the other arm have its leader's number, which is of another counter.
extern "C" __global__ void trap_share_arms(int *out, int *other, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, base = 0;
    if (threadIdx.x < 16 || threadIdx.x >= 40) {
        unsigned all = __ballot_sync(0xffffffffu, i >= 0);
        int leader = __ffs(all) - 1;
        if (lane == leader) base = atomicAdd(&count[0], __popc(all));
        base = __shfl_sync(0xffffffffu, base, leader);
        out[base + __popc(all & ((1u << lane) - 1))] = i; // RACE
    } else {
        unsigned all = __ballot_sync(0xffffffffu, i >= 0);
        int leader = __ffs(all) - 1;
        if (lane == leader) base = atomicAdd(&count[1], __popc(all));
        base = __shfl_sync(0xffffffffu, base, leader);
        other[base + __popc(all & ((1u << lane) - 1))] = i;
    }
}
