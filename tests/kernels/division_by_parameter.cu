//@ verdict: verified
//@ block: 256
//@ grid: 64
//@ param: w=24
// Row and column by a fixed divisor.

extern "C" __global__ void division_by_parameter(int w, const float *in, float *out) {
    int g = blockIdx.x * 256 + threadIdx.x;
    int y = g / w, x = g % w;
    out[y * w + x] = in[g];
}
