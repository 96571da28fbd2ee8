//@ verdict: race
//@ block: 32,8
//@ grid: 8,32
// The barrier before the tile is filled again is missing.

extern "C" __global__ void fdtd_queue(float *out, const float *in, const float *c, int nz) {
    __shared__ float tile[8 + 8][32 + 8];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int tx = threadIdx.x + 4, ty = threadIdx.y + 4;
    const int row = 264, plane = 264 * 264;
    int i = (y + 4) * row + x + 4, o = i + 4 * plane;
    float behind[4], front[4], now;
    for (int k = 3; k >= 0; k--) behind[k] = in[i], i += plane;
    now = in[i], i += plane;
    for (int k = 0; k < 4; k++) front[k] = in[i], i += plane;
    if (nz > 256) return;
    #pragma unroll 1
    for (int z = 0; z < nz; z++) {
        if (z > 0) {
            for (int k = 3; k > 0; k--) behind[k] = behind[k - 1];
            behind[0] = now;
            now = front[0];
            for (int k = 0; k < 3; k++) front[k] = front[k + 1];
            front[3] = in[i];
            i += plane;
            o += plane;
        }
        if (threadIdx.y < 4) {
            tile[threadIdx.y][tx] = in[o - 4 * row];  // RACE
            tile[threadIdx.y + 12][tx] = in[o + 8 * row];  // RACE
        }
        if (threadIdx.x < 4) {
            tile[ty][threadIdx.x] = in[o - 4];  // RACE
            tile[ty][threadIdx.x + 36] = in[o + 32];  // RACE
        }
        tile[ty][tx] = now;  // RACE
        __syncthreads();
        float v = c[0] * now;
        #pragma unroll
        for (int k = 1; k <= 4; k++)
            v += c[k] * (front[k - 1] + behind[k - 1] + tile[ty - k][tx] + tile[ty + k][tx] + tile[ty][tx - k] + tile[ty][tx + k]);  // RACE
        out[o] = v;
    }
}
