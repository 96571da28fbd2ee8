//@ verdict: verified
//@ block: 32,8
//@ grid: 32
//@ param: rows=5000
//@ param: columns=1000
// Sums of columns: eight threads share a column, and the first adds what they have.

extern "C" __global__ void column_sums(const float *matrix, float *sums, int rows, int columns) {
    __shared__ float partial[8][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (column < columns)
        for (int r = threadIdx.y; r < rows; r += 8)
            sum += matrix[r * columns + column];
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        for (int k = 1; k < 8; k++)
            sum += partial[k][threadIdx.x];
        sums[column] = sum;
    }
}
