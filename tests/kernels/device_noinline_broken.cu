//@ verdict: race
//@ block: 256
//@ grid: 64
// The store halves the index.

__device__ __noinline__ float fetch(const float *a, int i) { return a[i] + a[i + 1]; }

__device__ __noinline__ void put(float *o, int i, float v) {
    o[i / 2] = v;  // RACE
}

extern "C" __global__ void device_noinline(const float *a, float *o) {
    int g = blockIdx.x * 256 + threadIdx.x;
    put(o, g, fetch(a, g) * 0.5f);
}
