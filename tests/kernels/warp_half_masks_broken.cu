//@ verdict: race
//@ block: 128
//@ grid: 64
// The other group of the warp does not wait.

extern "C" __global__ void warp_half_masks_broken(const float *in, float *out) {
    __shared__ float s[128];
    int t = threadIdx.x, g = blockIdx.x * 128 + t;
    unsigned mask = 0xffffu << (t & 16);
    s[t] = in[g]; // RACE
    __syncwarp(mask);
    out[g] = s[t ^ 31]; // RACE
}
