//@ verdict: verified
//@ block: 256
//@ grid: 64
// Histogram by atomics on global memory.

extern "C" __global__ void histogram_global(const int *data, int n, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&out[data[i] & 63], 1);
}
