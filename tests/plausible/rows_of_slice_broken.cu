//@ verdict: race
//@ block: 256
//@ grid: 64
// Broken: the row is counted by the pitch, and the column by the length of rows, so that columns of several rows meet.

extern "C" __global__ void rows_of_slice_broken(const float *in, float *out, int rows, int columns, int pitch) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * columns; i += gridDim.x * blockDim.x) {
        int row = i / pitch, column = i % columns;
        out[row * pitch + column] = in[i];  // RACE
    }
}
