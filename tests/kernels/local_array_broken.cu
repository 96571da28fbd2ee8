//@ verdict: race
//@ block: 128
//@ grid: 64
// The scratch array is shared and not indexed by thread.

extern "C" __global__ void local_array(const int *in, int *out) {
    __shared__ int scratch[8];
    int g = blockIdx.x * 128 + threadIdx.x;
    #pragma unroll 1
    for (int k = 0; k < 8; k++) scratch[(k + g) & 7] = in[g * 8 + k];  // RACE
    out[g] = scratch[g % 5] + scratch[g % 3];  // RACE
}
