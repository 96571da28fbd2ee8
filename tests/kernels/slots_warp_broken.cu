//@ verdict: possible-race
//@ block: 64
//@ grid: 4
// Broken: the leader counts one lane too few. (The emulator's masks are not the only ones that there may be.)
extern "C" __global__ void slots_warp_broken(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!(i < n && in[i] > 0)) return;
    unsigned mask = __activemask();
    int lane = threadIdx.x & 31, leader = __ffs(mask) - 1, base = 0;
    unsigned below = (1u << lane) - 1;
    if (lane == leader) base = atomicAdd(count, __popc(mask) - 1);
    base = __shfl_sync(mask, base, leader);
    out[base + __popc(mask & below)] = i; // RACE
}
