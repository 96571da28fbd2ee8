//@ verdict: race
//@ block: 128
//@ grid: 64
// All blocks use the same slice.

__device__ float scratch[64 * 128];

extern "C" __global__ void module_global(const float *in, float *out) {
    int t = threadIdx.x, g = blockIdx.x * 128 + t;
    float *mine = scratch;
    mine[t] = in[g];  // RACE
    __syncthreads();
    out[g] = mine[127 - t];  // RACE
}
