//@ verdict: verified
//@ block: 256
//@ grid: 64
// Bit-reversed order within a block: a permutation.

extern "C" __global__ void bit_reverse(const float *in, float *out) {
    int t = threadIdx.x;
    out[blockIdx.x * 256 + (__brev(t) >> 24)] = in[blockIdx.x * 256 + t];
}
