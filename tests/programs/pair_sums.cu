//@ verdict: verified
//@ block: 256
//@ grid: 98
//@ param: n=100001
// Sums of neighbouring pairs; the last number of an odd length stays alone.

extern "C" __global__ void pair_sums(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = 2 * i, b = 2 * i + 1;
    if (a >= n) return;
    float sum = in[a];
    if (b < n) sum += in[b];
    out[i] = sum;
}
