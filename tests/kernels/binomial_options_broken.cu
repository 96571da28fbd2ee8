//@ verdict: race
//@ block: 256
//@ grid: 64
// No barrier at the end of a round: the next one reads what is being written.

extern "C" __global__ void binomial_options(float *value, const float *spot, float up, float down) {
    __shared__ float tree[257];
    int t = threadIdx.x;
    tree[t] = spot[blockIdx.x] * __expf(0.01f * (2.0f * t - 256));
    if (t == 0) tree[256] = spot[blockIdx.x] * __expf(2.56f);
    __syncthreads();
    #pragma unroll 1
    for (int i = 256; i > 0; i--) {
        float v = 0;
        if (t < i) v = down * tree[t] + up * tree[t + 1];  // RACE
        __syncthreads();
        if (t < i) tree[t] = v;  // RACE
    }
    if (t == 0) value[blockIdx.x] = tree[0];
}
