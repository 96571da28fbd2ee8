//@ verdict: race
//@ block: 32
//@ grid: 8
// The lower lanes wait once more: their first barrier is the only one of the upper lanes.

extern "C" __global__ void trap_warp_uneven(const float *in, float *out) {
    __shared__ float s[32];
    int t = threadIdx.x;
    if (t < 16) __syncwarp();
    s[t] = in[blockIdx.x * 32 + t]; // RACE
    __syncwarp();
    out[blockIdx.x * 32 + t] = s[t ^ 16]; // RACE
}
