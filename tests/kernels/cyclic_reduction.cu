//@ verdict: verified
//@ block: 128
//@ grid: 32
// A tridiagonal system of 256 unknowns: reduction up, substitution down.

extern "C" __global__ void cyclic_reduction(const float *ga, const float *gb, float *gd) {
    __shared__ float a[256], b[256], d[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    for (int i = t; i < 256; i += 128) a[i] = ga[base + i], b[i] = gb[base + i], d[i] = gd[base + i];
    int threads = 128, stride = 1;
    #pragma unroll 1
    for (; threads > 0; threads >>= 1) {
        __syncthreads();
        if (t < threads) {
            int i = 2 * stride * t + 2 * stride - 1, left = i - stride;
            float k = a[i] / b[left];
            a[i] = -a[left] * k;
            d[i] -= d[left] * k;
        }
        stride <<= 1;
    }
    threads = 1;
    stride >>= 1;
    #pragma unroll 1
    for (; stride > 0; stride >>= 1, threads <<= 1) {
        __syncthreads();
        if (t < threads && t > 0) {
            int i = 2 * stride * t + stride - 1;
            d[i] = (d[i] - a[i] * d[i - stride]) / b[i];
        }
    }
    __syncthreads();
    for (int i = t; i < 256; i += 128) gd[base + i] = d[i];
}
