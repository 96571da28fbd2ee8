//@ verdict: verified
//@ block: 256
//@ grid: 64
// The neighbour index is clamped at the end; only reads are clamped.

extern "C" __global__ void clamped_read(int n, const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] - in[min(i + 1, n - 1)];
}
