//@ verdict: race
//@ block: 256
//@ grid: 64
// The second array starts inside the first.

extern __shared__ float pool[];

extern "C" __global__ void dynamic_shared(const float *x, const float *y, float *out) {
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    float *a = pool;
    float *b = pool + 128;
    a[t] = x[g];  // RACE
    b[t] = y[g];  // RACE
    __syncthreads();
    out[g] = a[255 - t] * b[(t + 7) & 255];
}
