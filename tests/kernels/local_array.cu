//@ verdict: verified
//@ block: 128
//@ grid: 64
// A local array indexed dynamically is private to its thread.

extern "C" __global__ void local_array(const int *in, int *out) {
    int scratch[8];
    int g = blockIdx.x * 128 + threadIdx.x;
    #pragma unroll 1
    for (int k = 0; k < 8; k++) scratch[(k + g) & 7] = in[g * 8 + k];
    out[g] = scratch[g % 5] + scratch[g % 3];
}
