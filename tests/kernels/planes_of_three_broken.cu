//@ verdict: race
//@ block: 96
//@ grid: 32
// Planes are 1000 apart although each has 1024 elements.

extern "C" __global__ void planes_of_three(const float *in, float *out) {
    unsigned g = blockIdx.x * 96 + threadIdx.x;
    out[g % 3 * 1000 + g / 3] = in[g];  // RACE
}
