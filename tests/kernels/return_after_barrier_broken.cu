//@ verdict: divergence
//@ block: 256
//@ grid: 16
// Threads beyond the end leave before the barrier.

extern "C" __global__ void return_after_barrier(const float *in, float *out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, g = blockIdx.x * 256 + t;
    if (g >= n) return;
    s[t] = g < n ? in[g] : 0;
    __syncthreads();  // DIVERGENCE
    float x = s[255 - t];
    if (g >= n) return;
    out[g] = x + s[t ^ 1];
}
