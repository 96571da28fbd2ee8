//@ verdict: verified-when
//@ block: 128
//@ grid: 2048
//@ condition: scaled_rows_param_3 <= 1073741824
//@ condition: 0 <= scaled_rows_param_3
// A block scales a row that is as long as a parameter says, in steps that the compiler knows: it makes two loops of the one, of up to three
// rounds and of four steps a round.

extern "C" __global__ void scaled_rows(const float *in, float *out, float factor, int columns) {
    size_t row = (size_t)blockIdx.x * columns;
    for (int column = threadIdx.x; column < columns; column += 128)
        out[row + column] = factor * in[row + column];
}
