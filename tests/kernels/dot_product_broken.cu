//@ verdict: race
//@ block: 128
//@ grid: 64
// The blocks add to the result without an atomic.

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
        *out += s[0];  // RACE
}
