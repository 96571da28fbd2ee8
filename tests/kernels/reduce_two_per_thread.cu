//@ verdict: verified
//@ block: 256
//@ grid: 64
// The last of the reduction samples: grid stride, a template on the block's size.

template <unsigned B, bool POWER>
__device__ __forceinline__ void reduce(const float *in, float *out, unsigned n) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x, i = blockIdx.x * B * 2 + t, stride = B * 2 * gridDim.x;
    float sum = 0;
    while (i < n) {
        sum += in[i];
        if (POWER || i + B < n) sum += in[i + B];
        i += stride;
    }
    s[t] = sum;
    __syncthreads();
    if (B >= 512) { if (t < 256) s[t] = sum = sum + s[t + 256]; __syncthreads(); }
    if (B >= 256) { if (t < 128) s[t] = sum = sum + s[t + 128]; __syncthreads(); }
    if (B >= 128) { if (t < 64) s[t] = sum = sum + s[t + 64]; __syncthreads(); }
    if (t < 32) {
        if (B >= 64) sum += s[t + 32];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    }
    if (t == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void reduce_two_per_thread(const float *in, float *out, unsigned n) {
    reduce<256, false>(in, out, n);
}
