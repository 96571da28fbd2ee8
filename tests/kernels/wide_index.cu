//@ verdict: verified
//@ block: 256
//@ grid: 512
// Elements 65536 apart, index in 64 bits.

extern "C" __global__ void wide_index(float *a, float v) {
    unsigned g = blockIdx.x * 256 + threadIdx.x;
    a[(unsigned long long)g * 65536u] = v * g;
}
