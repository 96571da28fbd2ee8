//@ verdict: race
//@ block: 128
//@ grid: 32
// The barrier between reading and writing is missing.

extern "C" __global__ void fft_shared(float2 *data) {
    __shared__ float re[256], im[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    float2 a = data[base + t], b = data[base + t + 128];
    #pragma unroll 1
    for (int p = 1; p < 256; p <<= 1) {
        int k = t & (p - 1), o = ((t - k) << 1) + k;
        float angle = -3.14159265f * k / p, c = __cosf(angle), s = __sinf(angle);
        float x = b.x * c - b.y * s, y = b.x * s + b.y * c;
        re[o] = a.x + x;  // RACE
        im[o] = a.y + y;  // RACE
        re[o + p] = a.x - x;  // RACE
        im[o + p] = a.y - y;  // RACE
        __syncthreads();
        a = make_float2(re[t], im[t]);  // RACE
        b = make_float2(re[t + 128], im[t + 128]);  // RACE
    }
    data[base + t] = a;
    data[base + t + 128] = b;
}
