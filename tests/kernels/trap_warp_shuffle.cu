//@ verdict: race
//@ block: 32
//@ grid: 8
// A vote of all lanes orders no memory.

extern "C" __global__ void trap_warp_shuffle(const float *in, float *out) {
    __shared__ float s[32];
    int t = threadIdx.x;
    float v = in[blockIdx.x * 32 + t];
    s[t] = v; // RACE
    int any = __any_sync(0xffffffffu, v > 0.0f);
    out[blockIdx.x * 32 + t] = s[t ^ 16] + any; // RACE
}
