//@ verdict: verified
//@ block: 128
//@ grid: 64
// Matrix times vector, one row a thread.

extern "C" __global__ void matvec(int rows, int cols, const float *a, const float *x, float *y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float acc = 0.0f;
    for (int k = 0; k < cols; k++) acc += a[(unsigned long long)row * cols + k] * x[k];
    y[row] = acc;
}
