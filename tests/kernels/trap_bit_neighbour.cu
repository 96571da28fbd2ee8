//@ verdict: race
//@ block: 64
//@ grid: 4
// Two bits have one place.
extern "C" __global__ void trap_bit_neighbour(unsigned *visited, int *parent) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = i & 1, bit = 1u << v;
    if ((atomicOr(&visited[0], bit) & bit) == 0) parent[v >> 1] = i; // RACE
}
