//@ verdict: verified
//@ block: 64
//@ grid: 8
// Each bucket has 32 places and a counter of its own.
extern "C" __global__ void slots_buckets(const unsigned *in, unsigned *out, unsigned *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned bucket = in[i] % 16;
    unsigned slot = atomicAdd(&counts[bucket], 1u);
    if (slot < 32) out[bucket * 32 + slot] = in[i];
}
