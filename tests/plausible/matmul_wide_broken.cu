//@ verdict: race
//@ block: 16,16
//@ grid: 8,8
// Broken: the guard of the columns includes one too many.

extern "C" __global__ void matmul_wide_broken(float *c, const float *a, const float *b, size_t n) {
    size_t row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col > n)
        return;
    float sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;  // RACE
}
