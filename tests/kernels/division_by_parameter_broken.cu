//@ verdict: race
//@ block: 256
//@ grid: 64
//@ param: w=24
// The divisor is one short: the ends of two rows meet.

extern "C" __global__ void division_by_parameter(int w, const float *in, float *out) {
    int g = blockIdx.x * 256 + threadIdx.x;
    int y = g / w, x = g % w;
    out[y * (w - 1) + x] = in[g];  // RACE
}
