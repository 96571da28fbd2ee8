//@ verdict: verified
//@ block: 16,16
//@ grid: 37,37
// Heat on a chip of 512 x 512: two steps of a pyramid in shared memory.

#define N 512
extern "C" __global__ void hotspot(int iterations, const float *power, const float *from, float *to, float step) {
    __shared__ float old[16][16], heat[16][16], now[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int small = 16 - iterations * 2;
    int y0 = small * blockIdx.y - iterations, x0 = small * blockIdx.x - iterations;
    int y = y0 + ty, x = x0 + tx, i = N * y + x;
    bool inside = y >= 0 && y < N && x >= 0 && x < N;
    if (inside) {
        old[ty][tx] = from[i];
        heat[ty][tx] = power[i];
    }
    __syncthreads();
    int top = y0 < 0 ? -y0 : 0, bottom = y0 + 15 > N - 1 ? 15 - (y0 + 15 - N + 1) : 15;
    int left = x0 < 0 ? -x0 : 0, right = x0 + 15 > N - 1 ? 15 - (x0 + 15 - N + 1) : 15;
    int n = ty - 1 < top ? top : ty - 1, s = ty + 1 > bottom ? bottom : ty + 1;
    int w = tx - 1 < left ? left : tx - 1, e = tx + 1 > right ? right : tx + 1;
    bool computed = false;
    for (int k = 0; k < iterations; k++) {
        computed = false;
        if (tx >= k + 1 && tx <= 14 - k && ty >= k + 1 && ty <= 14 - k && tx >= left && tx <= right && ty >= top &&
            ty <= bottom) {
            computed = true;
            now[ty][tx] = old[ty][tx] + step * (heat[ty][tx] + old[n][tx] + old[s][tx] + old[ty][e] + old[ty][w]);
        }
        __syncthreads();
        if (k == iterations - 1) break;
        if (computed) old[ty][tx] = now[ty][tx];
        __syncthreads();
    }
    if (computed) to[i] = now[ty][tx];
}
