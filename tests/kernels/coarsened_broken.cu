//@ verdict: race
//@ block: 256
//@ grid: 64
// Threads start three apart but still write four elements.

extern "C" __global__ void coarsened(const float *in, float *out) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int base = g * 3;
    #pragma unroll 1
    for (int k = 0; k < 4; k++)
        out[base + k] = in[g] * k;  // RACE
}
