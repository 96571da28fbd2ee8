//@ verdict: race
//@ block: 256
//@ grid: 16
//@ param: n=8192
//@ param: half=64
// Broken: groups of butterflies are half as long as they must be, and overlap.

extern "C" __global__ void fft_stage_broken(float2 *data, int n, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    int k = i % half;
    int a = (i / half) * half + k;
    int b = a + half;
    float angle = -3.14159265f * k / half;
    float c = __cosf(angle), s = __sinf(angle);
    float2 u = data[a], v = data[b];  // RACE
    float2 w = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
    data[a] = make_float2(u.x + w.x, u.y + w.y);  // RACE
    data[b] = make_float2(u.x - w.x, u.y - w.y);  // RACE
}
