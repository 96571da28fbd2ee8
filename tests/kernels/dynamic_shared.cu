//@ verdict: verified
//@ block: 256
//@ grid: 64
// Two arrays carved out of dynamic shared memory.

extern __shared__ float pool[];

extern "C" __global__ void dynamic_shared(const float *x, const float *y, float *out) {
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    float *a = pool;
    float *b = pool + 256;
    a[t] = x[g];
    b[t] = y[g];
    __syncthreads();
    out[g] = a[255 - t] * b[(t + 7) & 255];
}
