//@ verdict: verified
//@ block: 256
//@ grid: 64
// Fast Walsh transform of 512 values a block, in shared memory.

extern "C" __global__ void walsh_shared(float *data) {
    __shared__ float s[512];
    int t = threadIdx.x, base = blockIdx.x << 9;
    s[t] = data[base + t];
    s[t + 256] = data[base + t + 256];
    #pragma unroll 1
    for (int stride = 256; stride >= 1; stride >>= 1) {
        __syncthreads();
        int low = t & (stride - 1);
        int i = ((t - low) << 1) + low;
        float a = s[i], b = s[i + stride];
        s[i] = a + b;
        s[i + stride] = a - b;
    }
    __syncthreads();
    data[base + t] = s[t];
    data[base + t + 256] = s[t + 256];
}
