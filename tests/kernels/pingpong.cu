//@ verdict: verified
//@ block: 128
//@ grid: 64
// Two shared buffers change roles by swapping pointers.

extern "C" __global__ void pingpong(float *a, int rounds) {
    __shared__ float x[128], y[128];
    int t = threadIdx.x;
    float *from = x, *to = y;
    x[t] = a[blockIdx.x * 128 + t];
    y[t] = 0.0f;
    __syncthreads();
    #pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        to[t] = 0.5f * (from[t] + from[(t + 1) & 127]);
        __syncthreads();
        float *old = from;
        from = to;
        to = old;
    }
    a[blockIdx.x * 128 + t] = from[t];
}
