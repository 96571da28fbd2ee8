//@ verdict: race
//@ block: 256
//@ grid: 16
// Even and odd samples at the same time.

extern "C" __global__ void lifting_wavelet(float *data) {
    __shared__ float s[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    for (int i = t; i < 512; i += 256) s[i] = data[base + i];
    #pragma unroll 1
    for (int step = 1; step < 512; step <<= 1) {
        __syncthreads();
        int even = 2 * step * t, odd = even + step;
        if (odd < 512) s[odd] -= 0.5f * (s[even] + (odd + step < 512 ? s[odd + step] : s[even]));  // RACE
        if (even < 512 && odd < 512) s[even] += 0.25f * (s[odd] + (even > 0 ? s[even - step] : s[odd]));  // RACE
    }
    __syncthreads();
    for (int i = t; i < 512; i += 256) data[base + i] = s[i];
}
