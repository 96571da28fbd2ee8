//@ verdict: race
//@ block: 16,16
//@ grid: 1
// The row of the pivot is changed, too, while the rows below read it.
#define B 16
extern "C" __global__ void lu_pivot_tile(float *m) {
    __shared__ float s[B][B];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = m[y * B + x];
    __syncthreads();
    for (int k = 0; k < B - 1; k++) {
        if (x == k && y > k) s[y][k] /= s[k][k];
        __syncthreads();
        if (x > k && y >= k) s[y][x] -= s[y][k] * s[k][x];  // RACE
        __syncthreads();
    }
    m[y * B + x] = s[y][x];
}
