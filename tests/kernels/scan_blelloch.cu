//@ verdict: verified
//@ block: 128
//@ grid: 64
// Work-efficient scan of 256 elements by 128 threads.

extern "C" __global__ void scan_blelloch(const int *in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x, base = blockIdx.x * 256, offset = 1;
    s[2 * t] = in[base + 2 * t];
    s[2 * t + 1] = in[base + 2 * t + 1];
    #pragma unroll 1
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) s[255] = 0;
    #pragma unroll 1
    for (int d = 1; d < 256; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            int left = s[i];
            s[i] = s[j];
            s[j] += left;
        }
    }
    __syncthreads();
    out[base + 2 * t] = s[2 * t];
    out[base + 2 * t + 1] = s[2 * t + 1];
}
