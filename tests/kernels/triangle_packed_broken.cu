//@ verdict: race
//@ block: 128
//@ grid: 4
// Rows are one short.

extern "C" __global__ void triangle_packed(float *packed, const float *m) {
    int i = blockIdx.x * 128 + threadIdx.x;
    int base = i * (i - 1) / 2;
    for (int j = 0; j <= i; j++) packed[base + j] = m[i * 512 + j];  // RACE
}
