//@ verdict: verified
//@ block: 16,16
//@ grid: 64,64
// The update of one step of an elimination, rows of 1024.

extern "C" __global__ void gauss_update(float *a, float *b, const float *m, unsigned step) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (step >= 1024) return;
    if (x >= 1023 - step || y >= 1024 - step) return;
    unsigned row = x + 1 + step;
    a[1024 * row + y + step] -= m[1024 * row + step] * a[1024 * step + y + step];
    if (y == 0) b[row] -= m[1024 * row + step] * b[step];
}
