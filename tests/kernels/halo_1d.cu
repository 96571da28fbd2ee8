//@ verdict: verified
//@ block: 256
//@ grid: 64
// Three-point average over a shared tile with one halo cell on each side.

extern "C" __global__ void halo_1d(const float *in, float *out) {
    __shared__ float s[258];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t + 1] = in[g + 1];
    if (t == 0) s[0] = in[g];
    if (t == 255) s[257] = in[g + 2];
    __syncthreads();
    out[g] = (s[t] + s[t + 1] + s[t + 2]) / 3.0f;
}
