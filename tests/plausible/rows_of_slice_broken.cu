//@ verdict: race
//@ block: 256
//@ grid: 64
// Broken: two columns more of each row, which the next row has, too, where rows lie side by side.

extern "C" __global__ void rows_of_slice_broken(const float *in, float *out, int rows, int columns, int from, int pitch,
                                                int first) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * (columns + 2); i += gridDim.x * blockDim.x) {
        int row = i / (columns + 2), column = i % (columns + 2);
        if (row < rows && column < columns + 2)
            out[row * columns + column + first] = in[row * from + column];  // RACE
    }
}
