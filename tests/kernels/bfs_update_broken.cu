//@ verdict: race
//@ block: 256
//@ grid: 64
// Any thread may set the flag that says: go on.

extern "C" __global__ void bfs_update(bool *frontier, bool *next, bool *visited, int *over, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && next[i]) {
        frontier[i] = true;
        visited[i] = true;
        *over = 1;  // RACE
        next[i] = false;
    }
}
