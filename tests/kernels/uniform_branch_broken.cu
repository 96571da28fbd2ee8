//@ verdict: divergence
//@ block: 128
//@ grid: 64
// The decision depends on the thread.

extern "C" __global__ void uniform_branch(int mode, const float *in, float *out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    float v = in[g];
    s[t] = v;
    if (t < mode) {
        __syncthreads();  // DIVERGENCE
        v = s[t] * 2.0f;
    }
    out[g] = v;
}
