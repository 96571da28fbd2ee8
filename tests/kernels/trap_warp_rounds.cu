//@ verdict: race
//@ block: 32
//@ grid: 8
// The upper lanes wait in two rounds, the lower ones in one.

extern "C" __global__ void trap_warp_rounds(const float *in, float *out) {
    __shared__ float s[32];
    int t = threadIdx.x;
    #pragma unroll 1
    for (int i = 0; i <= t / 16; i++) __syncwarp();
    s[t] = in[blockIdx.x * 32 + t]; // RACE
    __syncwarp();
    out[blockIdx.x * 32 + t] = s[t ^ 16]; // RACE
}
