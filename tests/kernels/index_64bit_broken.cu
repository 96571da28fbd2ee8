//@ verdict: race
//@ block: 128
//@ grid: 64
// The block width is one short.

extern "C" __global__ void index_64bit(const double *in, double *out) {
    unsigned long long i = (unsigned long long)blockIdx.x * (blockDim.x - 1) + threadIdx.x;
    out[i] = in[i] * 0.5;  // RACE
}
