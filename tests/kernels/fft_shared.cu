//@ verdict: verified
//@ block: 128
//@ grid: 32
// Stockham's FFT of 256 complex values, exchange through shared memory.

extern "C" __global__ void fft_shared(float2 *data) {
    __shared__ float re[256], im[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    float2 a = data[base + t], b = data[base + t + 128];
    #pragma unroll 1
    for (int p = 1; p < 256; p <<= 1) {
        int k = t & (p - 1), o = ((t - k) << 1) + k;
        float angle = -3.14159265f * k / p, c = __cosf(angle), s = __sinf(angle);
        float x = b.x * c - b.y * s, y = b.x * s + b.y * c;
        re[o] = a.x + x;
        im[o] = a.y + y;
        re[o + p] = a.x - x;
        im[o + p] = a.y - y;
        __syncthreads();
        a = make_float2(re[t], im[t]);
        b = make_float2(re[t + 128], im[t + 128]);
        __syncthreads();
    }
    data[base + t] = a;
    data[base + t + 128] = b;
}
