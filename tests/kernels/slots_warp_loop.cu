//@ verdict: verified
//@ block: 64
//@ grid: 4
// In each round of a grid-stride loop; all lanes of a warp have as many rounds.
extern "C" __global__ void slots_warp_loop(const int *in, int *out, unsigned *count, int rounds) {
    int lane = threadIdx.x & 31;
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        int value = in[(blockIdx.x + r * gridDim.x) * 64 + threadIdx.x];
        unsigned keeps = __ballot_sync(0xffffffffu, value > 0), base = 0;
        int leader = __ffs(keeps) - 1;
        if (lane == leader) base = atomicAdd(count, __popc(keeps));
        base = __shfl_sync(0xffffffffu, base, leader);
        if (value > 0) out[base + __popc(keeps & ((1u << lane) - 1))] = value;
    }
}
