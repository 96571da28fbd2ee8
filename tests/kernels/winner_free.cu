//@ verdict: verified
//@ block: 64
//@ grid: 8
// A set bit is a free place; who clears it has the place.
extern "C" __global__ void winner_free(const unsigned *wish, unsigned *vacant, int *owner, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = wish[i], bit = 1u << (v & 31);
    if (atomicAnd(&vacant[v >> 5], ~bit) & bit) owner[v] = i;
}
