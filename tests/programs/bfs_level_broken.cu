//@ verdict: race
//@ block: 256
//@ grid: 20
//@ param: frontier_size=5000
//@ slow: yes
// Broken: two threads may find the same neighbour unvisited, and take the same place in the frontier.

extern "C" __global__ void bfs_level_broken(const int *offsets, const int *edges, const int *frontier, int *distance, int *next,
                                     int *next_size, int frontier_size, int level) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= frontier_size) return;
    int vertex = frontier[t];
    for (int e = offsets[vertex]; e < offsets[vertex + 1]; e++) {
        int neighbour = edges[e];
        if (distance[neighbour] == -1) {  // RACE
            distance[neighbour] = level;  // RACE
            next[atomicAdd(next_size, 1)] = neighbour;
        }
    }
}
