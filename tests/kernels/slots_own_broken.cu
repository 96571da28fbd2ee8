//@ verdict: race
//@ block: 64
//@ grid: 8
// Each thread has a counter of its own, so two threads may get the same, and what a thread stores decides how far apart.
extern "C" __global__ void slots_own_broken(const unsigned *in, unsigned *out, unsigned *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    counts[i] = in[i];
    unsigned slot = atomicAdd(&counts[i], 1u);
    out[slot] = i; // RACE
}
