//@ verdict: race
//@ block: 128
//@ grid: 2048
// The last column of a row is the first one of the next.

extern "C" __global__ void scaled_rows(const float *in, float *out, float factor, int columns) {
    size_t row = (size_t)blockIdx.x * columns;
    for (int column = threadIdx.x; column <= columns; column += 128)
        out[row + column] = factor * in[row + column];  // RACE
}
