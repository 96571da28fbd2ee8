//@ verdict: verified-when
//@ block: 256
//@ grid: 64
//@ condition: 1 <= rows_of_slice_param_4 <= 2147483647
//@ condition: rows_of_slice_param_4 >= rows_of_slice_param_3
//@ condition: rows_of_slice_param_2 * rows_of_slice_param_4 <= 2147483647
//@ condition: 1 <= rows_of_slice_param_2 <= 2147483647
//@ condition: 1 <= rows_of_slice_param_3 <= 2147483647
//@ condition: rows_of_slice_param_2 * rows_of_slice_param_3 <= 1073741824
// One index is divided into rows and columns, and the rows lie further apart where they are written.

extern "C" __global__ void rows_of_slice(const float *in, float *out, int rows, int columns, int pitch, int first) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * columns; i += gridDim.x * blockDim.x) {
        int row = i / columns, column = i % columns;
        out[row * pitch + column + first] = in[i];  // OUTSIDE
    }
}
