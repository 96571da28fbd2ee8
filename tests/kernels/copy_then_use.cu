//@ verdict: verified
//@ block: 128
//@ grid: 32
// A table of n values is copied by all threads in steps of the block, then looked up.

extern "C" __global__ void copy_then_use(const float *table, int n, const float *x, float *y) {
    __shared__ float s[1024];
    if (n < 1 || n > 1024) return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = table[i];
    __syncthreads();
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int k = (int)(x[g] * n);
    k = k < 0 ? 0 : k >= n ? n - 1 : k;
    y[g] = s[k];
}
