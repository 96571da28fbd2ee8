//@ verdict: verified
//@ block: 256
//@ grid: 64
// Nine-tap convolution, taps in constant memory, tile with halo.

__constant__ float taps[9];

extern "C" __global__ void convolution_1d(const float *in, float *out) {
    __shared__ float s[264];
    int t = threadIdx.x;
    int base = blockIdx.x * 256;
    for (int k = t; k < 264; k += 256) s[k] = in[base + k];
    __syncthreads();
    float acc = 0.0f;
    for (int k = 0; k < 9; k++) acc += taps[k] * s[t + k];
    out[base + t] = acc;
}
