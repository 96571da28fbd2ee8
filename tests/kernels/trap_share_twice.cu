//@ verdict: race
//@ block: 64
//@ grid: 4
// A lane writes its neighbour's place, too.
extern "C" __global__ void trap_share_twice(int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, base = 0;
    unsigned some = __ballot_sync(0xffffffffu, i < n);
    int leader = __ffs(some) - 1;
    if (lane == leader) base = atomicAdd(count, __popc(some));
    base = __shfl_sync(0xffffffffu, base, leader);
    if (i < n) {
        int at = base + __popc(some & ((1u << lane) - 1));
        out[at] = i; // RACE
        out[at + 1] = n; // RACE
    }
}
