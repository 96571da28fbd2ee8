//@ verdict: divergence
//@ block: 64
//@ grid: 64
// Each arm has a barrier of its own.

extern "C" __global__ void barrier_arms(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    if (t & 1) {
        s[t] = a[g] * 3.0f;
        __syncthreads();  // DIVERGENCE
        a[g] = s[t] + 1.0f;
    } else {
        s[t] = a[g] - 1.0f;
        __syncthreads();  // DIVERGENCE
        a[g] = s[t] * s[t];
    }
}
