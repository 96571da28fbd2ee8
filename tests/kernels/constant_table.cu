//@ verdict: verified
//@ block: 256
//@ grid: 64
// A table in constant memory, looked up by loaded bytes.

__constant__ float table[256];

extern "C" __global__ void constant_table(const unsigned char *in, float *out) {
    int g = blockIdx.x * 256 + threadIdx.x;
    out[g] = table[in[g]];
}
