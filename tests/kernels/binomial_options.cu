//@ verdict: verified
//@ block: 256
//@ grid: 64
// A binomial tree rolled back in shared memory, one option a block.

extern "C" __global__ void binomial_options(float *value, const float *spot, float up, float down) {
    __shared__ float tree[257];
    int t = threadIdx.x;
    tree[t] = spot[blockIdx.x] * __expf(0.01f * (2.0f * t - 256));
    if (t == 0) tree[256] = spot[blockIdx.x] * __expf(2.56f);
    __syncthreads();
    #pragma unroll 1
    for (int i = 256; i > 0; i--) {
        float v = 0;
        if (t < i) v = down * tree[t] + up * tree[t + 1];
        __syncthreads();
        if (t < i) tree[t] = v;
        __syncthreads();
    }
    if (t == 0) value[blockIdx.x] = tree[0];
}
