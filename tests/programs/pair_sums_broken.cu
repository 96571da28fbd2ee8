//@ verdict: race
//@ block: 256
//@ grid: 98
//@ param: n=100001
// Broken: the sums are stored at the front of the array that others still read.

extern "C" __global__ void pair_sums_broken(float *in, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = 2 * i, b = 2 * i + 1;
    if (a >= n) return;
    float sum = in[a];  // RACE
    if (b < n) sum += in[b];  // RACE
    in[i] = sum;  // RACE
}
