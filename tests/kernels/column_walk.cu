//@ verdict: verified
//@ block: 256
//@ grid: 1
// Each thread walks down one column of a 256-column matrix.

extern "C" __global__ void column_walk(int n, float *a) {
    int t = threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int r = 0; r < n; r++) {
        sum += a[r * 256 + t];
        a[r * 256 + t] = sum;
    }
}
