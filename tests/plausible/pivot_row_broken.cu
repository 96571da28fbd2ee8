//@ verdict: race
//@ block: 64
//@ grid: 4,256
//@ param: n=256
//@ row: 2
// Another row than the one that is read is left alone.

extern "C" __global__ void pivot_row_broken(float *matrix, int n, int k) {
    int row = blockIdx.y, x = blockIdx.x * 64 + threadIdx.x;
    if (row >= n || x >= n || row == k + 1) return;
    matrix[row * n + x] -= matrix[k * n + x];  // RACE
}
