//@ verdict: race
//@ block: 16,16
//@ grid: 16
// No barrier between the reads and the update of a round.

extern "C" __global__ void floyd_warshall(int *dist) {
    __shared__ int d[16][16];
    int j = threadIdx.x, i = threadIdx.y;
    int g = blockIdx.x * 256 + i * 16 + j;
    d[i][j] = dist[g];
    __syncthreads();
    #pragma unroll 1
    for (int k = 0; k < 16; k++) {
        int v = min(d[i][j], d[i][k] + d[k][j]);  // RACE
        d[i][j] = v;  // RACE
        __syncthreads();
    }
    dist[g] = d[i][j];
}
