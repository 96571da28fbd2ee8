//@ verdict: race
//@ block: 32
//@ grid: 8
// One barrier, two masks: the threads that exchange do not wait for each other.

extern "C" __global__ void trap_warp_other_mask(const float *in, float *out) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 32 + t]; // RACE
    __syncwarp(t < 16 ? 0xffffu : 0xffff0000u);
    out[blockIdx.x * 32 + t] = s[t ^ 16]; // RACE
}
