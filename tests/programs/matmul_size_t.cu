//@ verdict: verified
//@ block: 16,16
//@ grid: 63,63
//@ param: n=1000
// Tiled product of matrices whose sizes are 64-bit.

#define TILE 16

extern "C" __global__ void matmul_size_t(const float *a, const float *b, float *c, size_t n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    size_t row = (size_t)blockIdx.y * TILE + threadIdx.y;
    size_t col = (size_t)blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (size_t t = 0; t < n; t += TILE) {
        as[threadIdx.y][threadIdx.x] = row < n && t + threadIdx.x < n ? a[row * n + t + threadIdx.x] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = col < n && t + threadIdx.y < n ? b[(t + threadIdx.y) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}
