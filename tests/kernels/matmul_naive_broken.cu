//@ verdict: race
//@ block: 16,16
//@ grid: 7,7
//@ param: n=100
// No guard on the column: columns 100 to 111 fall into the next row.

extern "C" __global__ void matmul_naive(int n, const float *a, const float *b, float *c) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n) {
        float acc = 0.0f;
        for (int k = 0; k < n; k++)
            acc += a[row * n + k] * b[k * n + col];
        c[row * n + col] = acc;  // RACE
    }
}
