//@ verdict: verified
//@ block: 128
//@ grid: 64
// Groups of 16 lanes, each with its own mask.

extern "C" __global__ void warp_half_masks(const float *in, float *out) {
    __shared__ float s[128];
    int t = threadIdx.x, g = blockIdx.x * 128 + t;
    unsigned mask = 0xffffu << (t & 16);
    s[t] = in[g];
    __syncwarp(mask);
    float v = s[t ^ 15];
    __syncwarp(mask);
    s[t] = v + 1.0f;
    __syncwarp(mask);
    out[g] = s[t ^ 1];
}
