//@ verdict: race
//@ block: 256
//@ grid: 64
// A plain increment in place of the atomic.

extern "C" __global__ void histogram_global(const int *data, int n, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[data[i] & 63]++;  // RACE
}
