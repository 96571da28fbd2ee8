//@ verdict: verified
//@ block: 256
//@ grid: 64
// Three-point stencil from one array to another.

extern "C" __global__ void stencil_1d(int n, float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0f;
}
