//@ verdict: race
//@ block: 256
//@ grid: 512
// Index in 32 bits: threads 65536 apart wrap to the same element.

extern "C" __global__ void wide_index(float *a, float v) {
    unsigned g = blockIdx.x * 256 + threadIdx.x;
    a[g * 65536u] = v * g;  // RACE
}
