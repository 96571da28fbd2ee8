//@ verdict: race
//@ block: 64
//@ grid: 4
// Broken: those that do not keep theirs write, too.
extern "C" __global__ void slots_warp_votes_broken(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, value = i < n ? in[i] : 0, base = 0;
    unsigned keeps = __ballot_sync(0xffffffffu, value > 0);
    if (lane == 0) base = atomicAdd(count, __popc(keeps));
    base = __shfl_sync(0xffffffffu, base, 0);
    out[base + __popc(keeps & ((1u << lane) - 1))] = value + i; // RACE
}
