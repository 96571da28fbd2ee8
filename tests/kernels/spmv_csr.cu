//@ verdict: verified
//@ block: 128
//@ grid: 64
// Sparse matrix times vector, one row a thread.

extern "C" __global__ void spmv_csr(int rows, const int *start, const int *col, const float *val,
                                    const float *x, float *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float acc = 0.0f;
    for (int k = start[r]; k < start[r + 1]; k++)
        acc += val[k] * x[col[k]];
    y[r] = acc;
}
