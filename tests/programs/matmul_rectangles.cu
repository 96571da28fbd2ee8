//@ verdict: verified
//@ block: 16,16
//@ grid: 20,13
//@ param: m=200
//@ param: n=310
//@ param: k=150
// Product of rectangular matrices by tiles; nothing is a multiple of the tile.

extern "C" __global__ void matmul_rectangles(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c) {
    __shared__ float as[16][16], bs[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int t = 0; t < (k + 15) / 16; t++) {
        as[ty][tx] = row < m && t * 16 + tx < k ? a[row * k + t * 16 + tx] : 0.0f;
        bs[ty][tx] = t * 16 + ty < k && col < n ? b[(t * 16 + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = alpha * sum + beta * c[row * n + col];
}
