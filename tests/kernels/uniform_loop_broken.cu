//@ verdict: divergence
//@ block: 128
//@ grid: 64
// Odd threads go round once more.

extern "C" __global__ void uniform_loop(int n, float *a) {
    __shared__ float s[128];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    float v = a[g];
    #pragma unroll 1
    for (int k = 0; k < n + (t & 1); k++) {
        s[t] = v;
        __syncthreads();  // DIVERGENCE
        v += s[t];
    }
    a[g] = v;
}
