//@ verdict: verified
//@ block: 256
//@ grid: 64
// Four consecutive elements a thread.

extern "C" __global__ void coarsened(const float *in, float *out) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int base = g * 4;
    #pragma unroll 1
    for (int k = 0; k < 4; k++)
        out[base + k] = in[g] * k;
}
