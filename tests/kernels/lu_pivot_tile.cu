//@ verdict: verified
//@ block: 16,16
//@ grid: 1
// LU of a tile, one pivot after the other; the compiler copies the round four times and leaves before the last copy's
// second half, so that the test speaks of a register that the next round does not read.
#define B 16
extern "C" __global__ void lu_pivot_tile(float *m) {
    __shared__ float s[B][B];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = m[y * B + x];
    __syncthreads();
    for (int k = 0; k < B - 1; k++) {
        if (x == k && y > k) s[y][k] /= s[k][k];
        __syncthreads();
        if (x > k && y > k) s[y][x] -= s[y][k] * s[k][x];
        __syncthreads();
    }
    m[y * B + x] = s[y][x];
}
