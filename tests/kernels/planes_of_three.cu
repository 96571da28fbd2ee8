//@ verdict: verified
//@ block: 96
//@ grid: 32
// Interleaved triples to three planes: division and remainder by 3.

extern "C" __global__ void planes_of_three(const float *in, float *out) {
    unsigned g = blockIdx.x * 96 + threadIdx.x;
    out[g % 3 * 1024 + g / 3] = in[g];
}
