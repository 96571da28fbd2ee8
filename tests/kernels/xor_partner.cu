//@ verdict: verified
//@ block: 256
//@ grid: 64
// Writes to the partner with some bits flipped: a permutation.

extern "C" __global__ void xor_partner(const int *in, int *out) {
    int g = blockIdx.x * 256 + threadIdx.x;
    out[g ^ 5] = in[g];
}
