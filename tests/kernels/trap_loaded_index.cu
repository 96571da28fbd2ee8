//@ verdict: race
//@ block: 64
//@ grid: 8
// Loaded indices are never assumed to be different.

extern "C" __global__ void loaded_index(const int *perm, int *out) {
    int g = blockIdx.x * 64 + threadIdx.x;
    out[perm[g]] = g;  // RACE
}
