//@ verdict: verified
//@ block: 64
//@ grid: 8
// Numbers that pass a test are kept, each in a slot of its own: no two additions to one counter return the same.
extern "C" __global__ void slots_global(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) {
        int slot = atomicAdd(count, 1);
        out[slot] = i;
    }
}
