//@ verdict: verified
//@ block: 128
//@ grid: 79
//@ param: rows=10000
//@ slow: yes
// One Jacobi sweep with a sparse matrix, a thread a row.

extern "C" __global__ void spmv_csr_thread(const int *offsets, const int *columns, const float *values, const float *b,
                                           const float *x, float *next, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = b[row], diagonal = 1.0f;
        for (int e = offsets[row]; e < offsets[row + 1]; e++) {
            int column = columns[e];
            if (column == row) diagonal = values[e];
            else sum -= values[e] * x[column];
        }
        next[row] = sum / diagonal;
    }
}
