//@ verdict: race
//@ block: 16,4
//@ grid: 64
// Rows of different warps.

extern "C" __global__ void warp_two_rows_broken(const float *in, float *out) {
    __shared__ float s[4][16];
    int x = threadIdx.x, y = threadIdx.y, g = blockIdx.x * 64 + y * 16 + x;
    s[y][x] = in[g]; // RACE
    __syncwarp();
    out[g] = s[y ^ 2][x]; // RACE
}
