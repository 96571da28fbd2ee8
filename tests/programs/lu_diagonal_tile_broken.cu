//@ verdict: race
//@ block: 16
//@ grid: 1
//@ param: size=256
//@ slow: yes
// Broken: no barrier after the multipliers of a column.

#define B 16

extern "C" __global__ void lu_diagonal_tile_broken(float *m, int size, int offset) {
    __shared__ float tile[B][B];
    int tx = threadIdx.x;
    for (int i = 0; i < B; i++)
        tile[i][tx] = m[(offset + i) * size + offset + tx];
    __syncthreads();
    for (int i = 0; i < B - 1; i++) {
        if (tx > i) {
            for (int j = 0; j < i; j++)
                tile[tx][i] -= tile[tx][j] * tile[j][i];  // RACE
            tile[tx][i] /= tile[i][i];  // RACE
        }
        if (tx > i)
            for (int j = 0; j < i + 1; j++)
                tile[i + 1][tx] -= tile[i + 1][j] * tile[j][tx];  // RACE
        __syncthreads();
    }
    for (int i = 1; i < B; i++)
        m[(offset + i) * size + offset + tx] = tile[i][tx];
}
