//@ verdict: verified
//@ block: 64
//@ grid: 4
// One lane of each warp takes the places of all that keep a number.
extern "C" __global__ void slots_warp(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!(i < n && in[i] > 0)) return;
    unsigned mask = __activemask();
    int lane = threadIdx.x & 31, leader = __ffs(mask) - 1, base = 0;
    unsigned below = (1u << lane) - 1;
    if (lane == leader) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(mask, base, leader);
    out[base + __popc(mask & below)] = i;
}
