//@ verdict: race
//@ block: 16,4
//@ grid: 4
// In a block of rows of 16, two lanes of a warp have the same number along x.
extern "C" __global__ void trap_share_rows(int *out, int *count) {
    int lane = threadIdx.x & 31, base = 0;
    unsigned all = __ballot_sync(0xffffffffu, 1);
    int leader = __ffs(all) - 1;
    if (lane == leader) base = atomicAdd(count, __popc(all));
    base = __shfl_sync(0xffffffffu, base, leader);
    out[base + __popc(all & ((1u << lane) - 1))] = threadIdx.y; // RACE
}
