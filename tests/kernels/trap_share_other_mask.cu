//@ verdict: race
//@ block: 64
//@ grid: 4
// Lanes are counted in one mask and rank in another one.
extern "C" __global__ void trap_share_other_mask(const int *in, int *out, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, base = 0;
    unsigned some = __ballot_sync(0xffffffffu, in[i] > 0), all = __ballot_sync(0xffffffffu, i >= 0);
    if (lane == 0) base = atomicAdd(count, __popc(some));
    base = __shfl_sync(0xffffffffu, base, 0);
    out[base + __popc(all & ((1u << lane) - 1))] = i; // RACE
}
