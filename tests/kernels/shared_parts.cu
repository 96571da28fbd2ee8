//@ verdict: verified
//@ block: 128
//@ grid: 32
// One extern shared block holds floats, ints and shorts.

__device__ void fill(float *f, int *c, short *s, int t, float x) {
    f[t] = x;
    c[t] = (int)x;
    s[t] = (short)(int)x;
}

extern "C" __global__ void shared_parts(const float *in, float *out) {
    extern __shared__ char memory[];
    float *f = (float *)memory;
    int *c = (int *)(f + blockDim.x);
    short *s = (short *)(c + blockDim.x);
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t, other = blockDim.x - 1 - t;
    fill(f, c, s, t, in[g]);
    __syncthreads();
    out[g] = f[other] + c[other] + s[other];
}
