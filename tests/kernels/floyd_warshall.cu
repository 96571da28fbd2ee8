//@ verdict: verified
//@ block: 16,16
//@ grid: 16
// Shortest paths on 16 nodes in shared memory, two barriers a round.

extern "C" __global__ void floyd_warshall(int *dist) {
    __shared__ int d[16][16];
    int j = threadIdx.x, i = threadIdx.y;
    int g = blockIdx.x * 256 + i * 16 + j;
    d[i][j] = dist[g];
    __syncthreads();
    #pragma unroll 1
    for (int k = 0; k < 16; k++) {
        int v = min(d[i][j], d[i][k] + d[k][j]);
        __syncthreads();
        d[i][j] = v;
        __syncthreads();
    }
    dist[g] = d[i][j];
}
