//@ verdict: verified
//@ block: 64
//@ grid: 1
// Solves a lower triangular system of 64 rows: row after row, each thread corrects its own right-hand side.

extern "C" __global__ void forward_substitution(const float *lower, float *x) {
    __shared__ float b[64];
    int i = threadIdx.x;
    b[i] = x[i];
    __syncthreads();
    for (int k = 0; k < 64; k++) {
        if (i == k) b[k] /= lower[k * 64 + k];
        __syncthreads();
        if (i > k) b[i] -= lower[i * 64 + k] * b[k];
        __syncthreads();
    }
    x[i] = b[i];
}
