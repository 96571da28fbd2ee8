//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: whoever has a smaller number may write again.
extern "C" __global__ void winner_visit_broken(const int *from, const int *to, int edges, int *visited, int *parent, int *next,
                                               int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= edges) return;
    int v = to[i];
    if (atomicExch(&visited[v], 1) == 0 || parent[v] > from[i]) { // RACE
        parent[v] = from[i]; // RACE
        next[atomicAdd(count, 1)] = v;
    }
}
