//@ verdict: race
//@ block: 256
//@ grid: 64
// One bit too few is kept.

extern "C" __global__ void bit_reverse(const float *in, float *out) {
    int t = threadIdx.x;
    out[blockIdx.x * 256 + (__brev(t) >> 25)] = in[blockIdx.x * 256 + t];  // RACE
}
