//@ verdict: verified
//@ block: 64
//@ grid: 8
// Each thread has a counter of its own, which it also stores to: its results are anywhere, but its own.
extern "C" __global__ void slots_own(const unsigned *in, unsigned *out, unsigned *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    counts[i] = in[i];
    unsigned slot = atomicAdd(&counts[i], 1u);
    counts[i] = 7;
    slot ^= atomicAdd(&counts[i], 1u);
    out[i] = slot;
}
