//@ verdict: race
//@ block: 64
//@ grid: 1
// Broken: rows are not waited for.

extern "C" __global__ void forward_substitution_broken(const float *lower, float *x) {
    __shared__ float b[64];
    int i = threadIdx.x;
    b[i] = x[i];
    __syncthreads();
    for (int k = 0; k < 64; k++) {
        if (i == k) b[k] /= lower[k * 64 + k];  // RACE
        if (i > k) b[i] -= lower[i * 64 + k] * b[k];  // RACE
        __syncthreads();
    }
    x[i] = b[i];
}
