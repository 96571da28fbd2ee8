//@ verdict: verified
//@ block: 16,4
//@ grid: 64
// Two rows of the block are a warp and exchange their values.

extern "C" __global__ void warp_two_rows(const float *in, float *out) {
    __shared__ float s[4][16];
    int x = threadIdx.x, y = threadIdx.y, g = blockIdx.x * 64 + y * 16 + x;
    s[y][x] = in[g];
    __syncwarp();
    out[g] = s[y ^ 1][x];
}
