//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: each one gives the place back without saying so.
extern "C" __global__ void winner_free_broken(const unsigned *wish, unsigned *vacant, int *owner, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = wish[i], bit = 1u << (v & 31);
    atomicOr(&vacant[v >> 5], bit);
    if (atomicAnd(&vacant[v >> 5], ~bit) & bit) owner[v] = i; // RACE
}
