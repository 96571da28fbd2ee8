//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: the bit is cleared again, so another one finds it clear.
extern "C" __global__ void winner_bit_broken(const unsigned *node, unsigned *visited, int *parent, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = node[i], bit = 1u << (v & 31);
    if ((atomicOr(&visited[v >> 5], bit) & bit) == 0) parent[v] = i; // RACE
    atomicAnd(&visited[v >> 5], ~bit);
}
