//@ verdict: verified
//@ block: 128
//@ grid: 64
// A loop with barriers whose trip count is a parameter.

extern "C" __global__ void uniform_loop(int n, float *a) {
    __shared__ float s[128];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    float v = a[g];
    #pragma unroll 1
    for (int k = 0; k < n; k++) {
        s[t] = v;
        __syncthreads();
        v += s[(t + 1) & 127];
        __syncthreads();
    }
    a[g] = v;
}
