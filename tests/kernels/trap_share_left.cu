//@ verdict: possible-race
//@ block: 64
//@ grid: 4
// Lane 0 may have left the kernel: what the others get of it is anything, in the emulator, too.
extern "C" __global__ void trap_share_left(const int *in, int *out, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, base = 0;
    if (in[i] == 0 && lane == 0) return;
    unsigned all = __ballot_sync(0xffffffffu, i >= 0);
    if (lane == 0) base = atomicAdd(count, __popc(all));
    base = __shfl_sync(0xffffffffu, base, 0);
    out[base + __popc(all & ((1u << lane) - 1))] = i; // RACE
}
