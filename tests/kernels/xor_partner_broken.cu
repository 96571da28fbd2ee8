//@ verdict: race
//@ block: 256
//@ grid: 64
// An or in place of the exclusive or.

extern "C" __global__ void xor_partner(const int *in, int *out) {
    int g = blockIdx.x * 256 + threadIdx.x;
    out[g | 5] = in[g];  // RACE
}
