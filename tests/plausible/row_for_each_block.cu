//@ verdict: verified-when
//@ block: 256
//@ grid: 64
//@ condition: gridDim.x * row_for_each_block_param_2 <= 2147483647
//@ condition: 0 <= row_for_each_block_param_2
// Each block copies a vector to its own row, whose place is a number of 32 bits.

extern "C" __global__ void row_for_each_block(float *rows, const float *vector, int columns) {
    int row = blockIdx.x;
    for (int column = threadIdx.x; column < columns; column += blockDim.x)
        rows[row * columns + column] = vector[column];
}
