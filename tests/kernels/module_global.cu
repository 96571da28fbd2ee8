//@ verdict: verified
//@ block: 128
//@ grid: 64
// A module-level array, one slice a block.

__device__ float scratch[64 * 128];

extern "C" __global__ void module_global(const float *in, float *out) {
    int t = threadIdx.x, g = blockIdx.x * 128 + t;
    float *mine = scratch + blockIdx.x * 128;
    mine[t] = in[g];
    __syncthreads();
    out[g] = mine[127 - t];
}
