//@ verdict: race
//@ block: 256
//@ grid: 64
// Two neighbours write one result.

__constant__ float table[256];

extern "C" __global__ void constant_table(const unsigned char *in, float *out) {
    int g = blockIdx.x * 256 + threadIdx.x;
    out[g >> 1] = table[in[g]];  // RACE
}
