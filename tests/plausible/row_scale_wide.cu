//@ verdict: verified-when
//@ block: 256
//@ grid: 64
//@ condition: row_scale_wide_param_3 * row_scale_wide_param_2 <= 72057594037927936
//@ condition: 0 <= row_scale_wide_param_2
//@ condition: 0 <= row_scale_wide_param_3
// Each block scales a row of a matrix with sizes of 64 bits.

extern "C" __global__ void row_scale_wide(float *y, const float *x, long long rows, long long columns) {
    long long row = blockIdx.x;
    if (row >= rows)
        return;
    for (long long column = threadIdx.x; column < columns; column += blockDim.x)
        y[row * columns + column] = x[row * columns + column] * 2;  // OUTSIDE
}
