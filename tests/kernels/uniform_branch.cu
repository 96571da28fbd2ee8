//@ verdict: verified
//@ block: 128
//@ grid: 64
// A parameter decides for all threads whether to exchange.

extern "C" __global__ void uniform_branch(int mode, const float *in, float *out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    float v = in[g];
    if (mode > 0) {
        s[t] = v;
        __syncthreads();
        v = s[127 - t];
    }
    out[g] = v;
}
