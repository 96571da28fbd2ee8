//@ verdict: race
//@ block: 256
//@ grid: 64
// The wrong bit chooses, so two neighbours share an element.

extern "C" __global__ void ternary_pointer(float *a, float *b, float v) {
    int g = blockIdx.x * 256 + threadIdx.x;
    float *p = (g & 2) ? a : b;
    p[g / 2] = v + g;  // RACE
}
