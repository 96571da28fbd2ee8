//@ verdict: race
//@ block: 256
//@ grid: 1
// Rows are 255 apart.

extern "C" __global__ void column_walk(int n, float *a) {
    int t = threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int r = 0; r < n; r++) {
        sum += a[r * 255 + t];  // RACE
        a[r * 255 + t] = sum;  // RACE
    }
}
