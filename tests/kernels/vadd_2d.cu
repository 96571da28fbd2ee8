//@ verdict: verified
//@ block: 16,16
//@ grid: 32,32
// Two-dimensional ids over rows of 512.

extern "C" __global__ void vadd_2d(const float *a, const float *b, float *c) {
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    int i = y * 512 + x;
    c[i] = a[i] + b[i];
}
