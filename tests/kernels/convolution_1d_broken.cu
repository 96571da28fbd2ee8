//@ verdict: race
//@ block: 256
//@ grid: 64
// No barrier between filling the tile and using it.

__constant__ float taps[9];

extern "C" __global__ void convolution_1d(const float *in, float *out) {
    __shared__ float s[264];
    int t = threadIdx.x;
    int base = blockIdx.x * 256;
    for (int k = t; k < 264; k += 256) s[k] = in[base + k];  // RACE
    float acc = 0.0f;
    for (int k = 0; k < 9; k++) acc += taps[k] * s[t + k];  // RACE
    out[base + t] = acc;
}
