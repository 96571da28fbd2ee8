//@ verdict: race
//@ block: 128
//@ grid: 32
// The ints start in the middle of the floats.

__device__ void fill(float *f, int *c, short *s, int t, float x) {
    f[t] = x;  // RACE
    c[t] = (int)x;  // RACE
    s[t] = (short)(int)x;
}

extern "C" __global__ void shared_parts(const float *in, float *out) {
    extern __shared__ char memory[];
    float *f = (float *)memory;
    int *c = (int *)(f + blockDim.x / 2);
    short *s = (short *)(c + 2 * blockDim.x);
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t, other = blockDim.x - 1 - t;
    fill(f, c, s, t, in[g]);
    __syncthreads();
    out[g] = f[other] + c[other] + s[other];
}
