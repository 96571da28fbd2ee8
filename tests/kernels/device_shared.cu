//@ verdict: verified
//@ block: 128
//@ grid: 64
// A device function with its own shared array, called twice.

__device__ __forceinline__ float rotate(float v) {
    __shared__ float buf[128];
    int t = threadIdx.x;
    buf[t] = v;
    __syncthreads();
    float r = buf[(t + 1) & 127];
    __syncthreads();
    return r;
}

extern "C" __global__ void device_shared(float *a) {
    int g = blockIdx.x * 128 + threadIdx.x;
    a[g] = rotate(rotate(a[g]) * 2.0f);
}
