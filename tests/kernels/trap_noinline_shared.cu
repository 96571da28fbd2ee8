//@ verdict: race
//@ block: 64
//@ grid: 64
// The array of a device function exists once a block, so its two calls share it:
// the second call stores what a slow thread of the first call still reads.

__device__ __noinline__ float neighbour(float v) {
    __shared__ float buf[64];
    int t = threadIdx.x;
    buf[t] = v;  // RACE
    __syncthreads();
    return buf[(t + 1) & 63];  // RACE
}

extern "C" __global__ void noinline_shared(float *a) {
    int g = blockIdx.x * 64 + threadIdx.x;
    float v = neighbour(a[g]);
    a[g] = neighbour(v * 2.0f);
}
