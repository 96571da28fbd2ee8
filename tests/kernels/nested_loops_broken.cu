//@ verdict: race
//@ block: 128
//@ grid: 16
// Rows of the panel are 15 apart although 16 columns are written.

extern "C" __global__ void nested_loops(float *out, float a) {
    int g = blockIdx.x * 128 + threadIdx.x;
    #pragma unroll 1
    for (int i = 0; i < 8; i++) {
        #pragma unroll 1
        for (int j = 0; j < 16; j++)
            out[(g * 8 + i) * 15 + j] = a * (i + g) + j;  // RACE
    }
}
