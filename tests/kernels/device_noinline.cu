//@ verdict: verified
//@ block: 256
//@ grid: 64
// Loads and stores sit in functions that stay calls.

__device__ __noinline__ float fetch(const float *a, int i) { return a[i] + a[i + 1]; }

__device__ __noinline__ void put(float *o, int i, float v) {
    o[i] = v;
}

extern "C" __global__ void device_noinline(const float *a, float *o) {
    int g = blockIdx.x * 256 + threadIdx.x;
    put(o, g, fetch(a, g) * 0.5f);
}
