//@ verdict: verified
//@ block: 256
//@ grid: 64
// Threads past the end leave at once; no barrier follows.

extern "C" __global__ void early_return(int n, const float *in, float *out) {
    __shared__ float s[256];
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= n) return;
    s[threadIdx.x] = in[g];
    out[g] = s[threadIdx.x] * 2.0f;
}
