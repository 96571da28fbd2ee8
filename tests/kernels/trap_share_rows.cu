//@ verdict: race
//@ block: 16,4
//@ grid: 4
// In a block of rows of 16, two lanes of a warp have the same number along x.
extern "C" __global__ void trap_share_rows(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!(n > 0)) return;
    unsigned mask = __activemask();
    int lane = threadIdx.x & 31, leader = __ffs(mask) - 1, base = 0;
    unsigned below = (1u << lane) - 1;
    if (lane == leader) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(mask, base, leader);
    out[base + __popc(mask & below)] = i; // RACE
}
