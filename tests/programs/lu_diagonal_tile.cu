//@ verdict: verified
//@ block: 16
//@ grid: 1
//@ param: size=256
//@ slow: yes
//@ gap: launch race: with size = 1 the rows of the tile overlap; that a row has at least 16 columns is not seen
// LU of the tile on the diagonal; a thread a row.

#define B 16

extern "C" __global__ void lu_diagonal_tile(float *m, int size, int offset) {
    __shared__ float tile[B][B];
    int tx = threadIdx.x;
    for (int i = 0; i < B; i++)
        tile[i][tx] = m[(offset + i) * size + offset + tx];
    __syncthreads();
    for (int i = 0; i < B - 1; i++) {
        if (tx > i) {
            for (int j = 0; j < i; j++)
                tile[tx][i] -= tile[tx][j] * tile[j][i];
            tile[tx][i] /= tile[i][i];
        }
        __syncthreads();
        if (tx > i)
            for (int j = 0; j < i + 1; j++)
                tile[i + 1][tx] -= tile[i + 1][j] * tile[j][tx];
        __syncthreads();
    }
    for (int i = 1; i < B; i++)
        m[(offset + i) * size + offset + tx] = tile[i][tx];
}
