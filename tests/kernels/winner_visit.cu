//@ verdict: verified
//@ block: 64
//@ grid: 8
// A step of a search over edges: who comes to a node first writes its parent, and puts it into the next frontier.
extern "C" __global__ void winner_visit(const int *from, const int *to, int edges, int *visited, int *parent, int *next, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= edges) return;
    int v = to[i];
    if (atomicExch(&visited[v], 1) == 0) {
        parent[v] = from[i];
        next[atomicAdd(count, 1)] = v;
    }
}
