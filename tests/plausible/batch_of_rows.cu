//@ verdict: verified-when
//@ block: 32
//@ grid: 60,5
//@ condition: 1 <= batch_of_rows_param_1 <= 2147483647
//@ condition: batch_of_rows_param_1 >= 60
// A block writes one number for each row of each matrix, at an index of 64 bits: rows end with the grid.
extern "C" __global__ void batch_of_rows(float *sums, int rows) {
    if (threadIdx.x == 0) sums[(size_t)blockIdx.y * rows + blockIdx.x] += 1.0f;  // OUTSIDE
}
