//@ verdict: race
//@ block: 256
//@ grid: 64
// The same with one column too few between the rows: the last of a row is the first of the next one.

extern "C" __global__ void row_for_each_block_broken(float *rows, const float *vector, int columns) {
    int row = blockIdx.x;
    for (int column = threadIdx.x; column < columns; column += blockDim.x)
        rows[row * (columns - 1) + column] = vector[column];  // RACE
}
