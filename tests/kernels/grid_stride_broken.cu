//@ verdict: race
//@ block: 256
//@ grid: 64
// The stride is one block only, so block b+1 meets block b.

extern "C" __global__ void grid_stride(int n, float *x) {
    int stride = blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        x[i] = x[i] * 2.0f + 1.0f;  // RACE
}
