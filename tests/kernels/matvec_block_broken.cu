//@ verdict: race
//@ block: 64
//@ grid: 64
//@ compiler: clang
// Every thread publishes the sum, not only thread 0.

extern "C" __global__ void matvec_block(const float *a, const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float acc = 0.0f;
    for (int k = t; k < 256; k += 64) acc += a[blockIdx.x * 256 + k] * x[k];
    s[t] = acc;
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) s[t] += s[t + d];
    }
    y[blockIdx.x] = s[t];  // RACE
}
