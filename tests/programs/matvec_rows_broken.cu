//@ verdict: divergence
//@ block: 128
//@ grid: 8
//@ param: rows=1000
//@ param: columns=1024
// Broken: threads behind the last row return before the barriers.

extern "C" __global__ void matvec_rows_broken(const float *matrix, const float *x, float *y, int rows, int columns) {
    __shared__ float piece[128];
    int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int c = 0; c < columns; c += 128) {
        piece[threadIdx.x] = x[c + threadIdx.x];
        __syncthreads();  // DIVERGENCE
        for (int k = 0; k < 128; k++)
            sum += matrix[row * columns + c + k] * piece[k];
        __syncthreads();  // DIVERGENCE
    }
    if (row < rows) y[row] = sum;
}
