//@ verdict: race
//@ block: 32,8
//@ grid: 32
//@ param: rows=5000
//@ param: columns=1000
// Broken: nobody keeps the second to the eighth from writing the result, too.

extern "C" __global__ void column_sums_broken(const float *matrix, float *sums, int rows, int columns) {
    __shared__ float partial[8][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (column < columns)
        for (int r = threadIdx.y; r < rows; r += 8)
            sum += matrix[r * columns + column];
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (column < columns) {
        for (int k = 1; k < 8; k++)
            sum += partial[k][threadIdx.x];
        sums[column] = sum;  // RACE
    }
}
