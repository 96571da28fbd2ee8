//@ verdict: verified
//@ block: 128
//@ grid: 1
// Packed lower triangle: thread t fills row t.

extern "C" __global__ void triangle(float *tri, float v) {
    int t = threadIdx.x;
    int row = t * (t + 1) / 2;
    #pragma unroll 1
    for (int j = 0; j <= t; j++)
        tri[row + j] = v * j;
}
