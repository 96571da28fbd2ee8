//@ verdict: race
//@ block: 64
//@ grid: 8
// Broken: a ring of 16 places.
extern "C" __global__ void slots_inc_broken(const int *in, int *out, unsigned *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) out[atomicInc(count, 15u)] = i; // RACE
}
