//@ verdict: verified
//@ block: 64
//@ grid: 4
// All lanes vote, and lane 0 takes the places of those that keep a number.
extern "C" __global__ void slots_warp_votes(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, value = i < n ? in[i] : 0, base = 0;
    unsigned keeps = __ballot_sync(0xffffffffu, value > 0);
    if (lane == 0) base = atomicAdd(count, __popc(keeps));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (value > 0) out[base + __popc(keeps & ((1u << lane) - 1))] = value;
}
