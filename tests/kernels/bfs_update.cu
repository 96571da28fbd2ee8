//@ verdict: verified
//@ block: 256
//@ grid: 64
// The second kernel of a breadth-first search: the flags of the new frontier.

extern "C" __global__ void bfs_update(bool *frontier, bool *next, bool *visited, int *over, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && next[i]) {
        frontier[i] = true;
        visited[i] = true;
        atomicOr(over, 1);
        next[i] = false;
    }
}
