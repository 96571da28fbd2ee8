//@ verdict: race
//@ block: 128
//@ grid: 64
// The transposed product scatters into y without atomics.

extern "C" __global__ void spmv_csr(int rows, const int *start, const int *col, const float *val,
                                    const float *x, float *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    for (int k = start[r]; k < start[r + 1]; k++)
        y[col[k]] += val[k] * x[r];  // RACE
}
