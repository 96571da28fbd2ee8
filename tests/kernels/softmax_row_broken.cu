//@ verdict: race
//@ block: 128
//@ grid: 64
// No barrier between reading the maximum and reusing the buffer.

extern "C" __global__ void softmax_row(float *a) {
    __shared__ float s[128];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    float v = a[g];
    s[t] = v;
    __syncthreads();
    #pragma unroll 1
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    float e = __expf(v - s[0]);  // RACE
    s[t] = e;  // RACE
    __syncthreads();
    #pragma unroll 1
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    a[g] = e / s[0];
}
