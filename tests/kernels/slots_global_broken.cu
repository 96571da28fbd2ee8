//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: the second number of a slot has the place of the first one of the next slot.
extern "C" __global__ void slots_global_broken(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) {
        int slot = atomicAdd(count, 1);
        out[slot] = i;     // RACE
        out[slot + 1] = n; // RACE
    }
}
