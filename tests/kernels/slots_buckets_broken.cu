//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: slots are distinct within a bucket only, and 33 of them reach into the next one.
extern "C" __global__ void slots_buckets_broken(const unsigned *in, unsigned *out, unsigned *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned bucket = in[i] % 16;
    unsigned slot = atomicAdd(&counts[bucket], 1u);
    if (slot < 33) out[bucket * 32 + slot] = in[i]; // RACE
}
