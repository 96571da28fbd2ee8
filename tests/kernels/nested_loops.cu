//@ verdict: verified
//@ block: 128
//@ grid: 16
// Two nested loops fill an 8x16 panel a thread.

extern "C" __global__ void nested_loops(float *out, float a) {
    int g = blockIdx.x * 128 + threadIdx.x;
    #pragma unroll 1
    for (int i = 0; i < 8; i++) {
        #pragma unroll 1
        for (int j = 0; j < 16; j++)
            out[(g * 8 + i) * 16 + j] = a * (i + g) + j;
    }
}
