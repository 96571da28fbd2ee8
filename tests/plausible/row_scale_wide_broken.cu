//@ verdict: race
//@ block: 256
//@ grid: 64
// Broken: the loop runs one column too far, into the next row.

extern "C" __global__ void row_scale_wide_broken(float *y, const float *x, long long rows, long long columns) {
    long long row = blockIdx.x;
    if (row >= rows)
        return;
    for (long long column = threadIdx.x; column <= columns; column += blockDim.x)
        y[row * columns + column] = x[row * columns + column] * 2;  // RACE
}
