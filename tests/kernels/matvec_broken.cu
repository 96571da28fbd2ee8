//@ verdict: race
//@ block: 128
//@ grid: 64
// Four threads of a row all add to its result.

extern "C" __global__ void matvec(int rows, int cols, const float *a, const float *x, float *y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 4;
    if (row >= rows) return;
    float acc = 0.0f;
    for (int k = 0; k < cols; k++) acc += a[(unsigned long long)row * cols + k] * x[k];
    y[row] = acc;  // RACE
}
