//@ verdict: verified
//@ block: 64
//@ grid: 8
// One bit a node says who has been there.
extern "C" __global__ void winner_bit(const unsigned *node, unsigned *visited, int *parent, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = node[i], bit = 1u << (v & 31);
    if ((atomicOr(&visited[v >> 5], bit) & bit) == 0) parent[v] = i;
}
