//@ verdict: verified
//@ block: 256
//@ grid: 20
//@ param: frontier_size=5000
// One level of a breadth-first search: unvisited neighbours go into the next frontier once.

extern "C" __global__ void bfs_level(const int *offsets, const int *edges, const int *frontier, int *distance, int *next,
                                     int *next_size, int frontier_size, int level) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= frontier_size) return;
    int vertex = frontier[t];
    for (int e = offsets[vertex]; e < offsets[vertex + 1]; e++) {
        int neighbour = edges[e];
        if (atomicCAS(&distance[neighbour], -1, level) == -1) {
            next[atomicAdd(next_size, 1)] = neighbour;
        }
    }
}
