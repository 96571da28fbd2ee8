//@ verdict: verified
//@ block: 256
//@ grid: 64
// Even threads write one array, odd threads the other, at half their index.

extern "C" __global__ void ternary_pointer(float *a, float *b, float v) {
    int g = blockIdx.x * 256 + threadIdx.x;
    float *p = (g & 1) ? a : b;
    p[g / 2] = v + g;
}
