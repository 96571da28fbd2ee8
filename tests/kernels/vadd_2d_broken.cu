//@ verdict: race
//@ block: 16,16
//@ grid: 32,32
// Rows are 511 apart although 512 columns are written.

extern "C" __global__ void vadd_2d(const float *a, const float *b, float *c) {
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    int i = y * 511 + x;
    c[i] = a[i] + b[i];  // RACE
}
