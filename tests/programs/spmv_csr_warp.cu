//@ verdict: verified
//@ block: 256
//@ grid: 1250
//@ param: rows=10000
//@ slow: yes
// Sparse matrix times vector, a warp a row.

extern "C" __global__ void spmv_csr_warp(const int *offsets, const int *columns, const float *values, const float *x,
                                         float *y, int rows) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int row = thread / 32, lane = thread & 31;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int e = offsets[row] + lane; e < offsets[row + 1]; e += 32)
        sum += values[e] * x[columns[e]];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0)
        y[row] = sum;
}
