//@ verdict: race
//@ block: 32
//@ grid: 8
// All lanes are at one barrier, but the lower ones wait for their half and the upper ones for all.

extern "C" __global__ void trap_warp_mixed_masks(const float *in, float *out) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 32 + t]; // RACE
    __syncwarp(t < 16 ? 0xffffu : 0xffffffffu);
    out[blockIdx.x * 32 + t] = s[t ^ 16]; // RACE
}
