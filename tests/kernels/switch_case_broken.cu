//@ verdict: race
//@ block: 256
//@ grid: 64
// Case 2 writes the cell of case 1.

extern "C" __global__ void switch_case(const float *in, float *out, float *aux) {
    int g = blockIdx.x * 256 + threadIdx.x;
    switch (threadIdx.x & 3) {
    case 0: out[g] = in[g]; break;
    case 1: aux[g] = -in[g]; break;  // RACE
    case 2: aux[g - 1] = sqrtf(in[g]); break;  // RACE
    default: aux[g + 1] = in[g] * in[g]; break;
    }
}
