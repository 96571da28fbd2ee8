//@ verdict: race
//@ block: 256
//@ grid: 64
// The round of 64 has no barrier after it.

template <unsigned N> __device__ void reduce(float *s, unsigned t) {
    if (N >= 256) { if (t < 128) s[t] += s[t + 128]; __syncthreads(); }
    if (N >= 128) {
        if (t < 64) s[t] += s[t + 64];  // RACE
    }
    if (N >= 64 && t < 32) s[t] += s[t + 32];  // RACE
    __syncthreads();
    if (t < 16) s[t] += s[t + 16];
    __syncthreads();
    if (t < 8) s[t] += s[t + 8];
    __syncthreads();
}

extern "C" __global__ void reduce_template(const float *in, float *out) {
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    reduce<256>(s, t);
    if (t == 0) {
        float r = 0.0f;
        for (int k = 0; k < 8; k++) r += s[k];
        out[blockIdx.x] = r;
    }
}
