//@ verdict: verified-when
//@ block: 64
//@ grid: 4,256
//@ param: n=256
//@ condition: pivot_row_param_2 < pivot_row_param_1
//@ condition: 0 <= pivot_row_param_1
//@ condition: 0 <= pivot_row_param_2
// A row is taken from all others: `k` is one of the `n` rows.

extern "C" __global__ void pivot_row(float *matrix, int n, int k) {
    int row = blockIdx.y, x = blockIdx.x * 64 + threadIdx.x;
    if (row >= n || x >= n || row == k) return;
    matrix[row * n + x] -= matrix[k * n + x];  // OUTSIDE
}
