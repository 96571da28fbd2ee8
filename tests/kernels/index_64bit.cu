//@ verdict: verified
//@ block: 128
//@ grid: 64
// Index arithmetic in 64 bits.

extern "C" __global__ void index_64bit(const double *in, double *out) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 0.5;
}
