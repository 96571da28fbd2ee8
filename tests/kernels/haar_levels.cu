//@ verdict: verified
//@ block: 256
//@ grid: 32
// Haar wavelet of 512 values: averages move to the front, differences go out.

extern "C" __global__ void haar_levels(const float *in, float *out) {
    __shared__ float s[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    s[t] = in[base + t];
    s[t + 256] = in[base + t + 256];
    __syncthreads();
    #pragma unroll 1
    for (int n = 256; n > 0; n >>= 1) {
        float a = 0, b = 0;
        if (t < n) a = s[2 * t], b = s[2 * t + 1];
        __syncthreads();
        if (t < n) {
            s[t] = (a + b) * 0.70710678f;
            out[base + n + t] = (a - b) * 0.70710678f;
        }
        __syncthreads();
    }
    if (t == 0) out[base] = s[0];
}
