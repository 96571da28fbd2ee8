//@ verdict: race
//@ block: 64
//@ grid: 8
// A module array exists once, not once a block.

__device__ int scratch[64];

extern "C" __global__ void module_array(const int *in, int *out) {
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    scratch[t] = in[g];  // RACE
    out[g] = scratch[t] + 1;
}
