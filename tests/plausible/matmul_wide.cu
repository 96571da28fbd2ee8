//@ verdict: verified-when
//@ block: 16,16
//@ grid: 8,8
//@ condition: matmul_wide_param_3 * matmul_wide_param_3 <= 72057594037927936
//@ condition: 0 <= matmul_wide_param_3
// The product of n x n matrices, for an n of 64 bits.

extern "C" __global__ void matmul_wide(float *c, const float *a, const float *b, size_t n) {
    size_t row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col >= n)
        return;
    float sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
