//@ verdict: verified
//@ block: 256
//@ grid: 16
//@ param: n=8192
//@ param: half=64
// One stage of an FFT in global memory; a thread a butterfly.

extern "C" __global__ void fft_stage(float2 *data, int n, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    int k = i % half;
    int a = (i / half) * 2 * half + k;
    int b = a + half;
    float angle = -3.14159265f * k / half;
    float c = __cosf(angle), s = __sinf(angle);
    float2 u = data[a], v = data[b];
    float2 w = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
    data[a] = make_float2(u.x + w.x, u.y + w.y);
    data[b] = make_float2(u.x - w.x, u.y - w.y);
}
