//@ verdict: verified
//@ block: 256
//@ grid: 16
// Blocks beyond the end leave together; threads leave alone only behind the last barrier.

extern "C" __global__ void return_after_barrier(const float *in, float *out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, g = blockIdx.x * 256 + t;
    if (blockIdx.x * 256 >= n) return;
    s[t] = g < n ? in[g] : 0;
    __syncthreads();
    float x = s[255 - t];
    if (g >= n) return;
    out[g] = x + s[t ^ 1];
}
