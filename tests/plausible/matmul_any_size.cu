//@ verdict: verified-when
//@ block: 16,16
//@ grid: 32,32
//@ condition: matmul_any_size_param_3 * matmul_any_size_param_3 <= 2147483647
//@ condition: 0 <= matmul_any_size_param_3
// The textbook product of n x n matrices by tiles, for an n that only the host knows.

#define TILE 16

extern "C" __global__ void matmul_any_size(const float *a, const float *b, float *c, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;
    for (int t = 0; t < (n + TILE - 1) / TILE; t++) {
        int k = t * TILE;
        as[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = col < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}
