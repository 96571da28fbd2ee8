//@ verdict: verified
//@ block: 128
//@ grid: 64
// Dot product: partial sums, block tree, one atomic a block.

extern "C" __global__ void dot_product(int n, const float *x, const float *y, float *out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    float acc = 0.0f;
    for (int i = blockIdx.x * 128 + t; i < n; i += 128 * gridDim.x) acc += x[i] * y[i];
    s[t] = acc;
    __syncthreads();
    #pragma unroll 1
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, s[0]);
}
