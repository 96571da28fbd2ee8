//@ verdict: race
//@ block: 128
//@ grid: 1
// Each row is one element too long.

extern "C" __global__ void triangle(float *tri, float v) {
    int t = threadIdx.x;
    int row = t * (t + 1) / 2;
    #pragma unroll 1
    for (int j = 0; j <= t + 1; j++)
        tri[row + j] = v * j;  // RACE
}
