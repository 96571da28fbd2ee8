//@ verdict: verified
//@ block: 256
//@ grid: 64
// Cheapest path through a grid, several rows a launch, blocks overlap by a halo.

extern "C" __global__ void pathfinder(int rows, const int *wall, const int *from, int *to, int start) {
    __shared__ int prev[256], result[256];
    int t = threadIdx.x;
    int small = 256 - rows * 2;
    if (small <= 0 || rows > 16 || rows < 1) return;
    int x0 = small * blockIdx.x - rows, x = x0 + t;
    int left = x0 < 0 ? -x0 : 0, right = x0 + 255 > 9999 ? 255 - (x0 + 255 - 9999) : 255;
    int w = t - 1 < left ? left : t - 1, e = t + 1 > right ? right : t + 1;
    bool valid = t >= left && t <= right;
    if (x >= 0 && x < 10000) prev[t] = from[x];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < rows; i++) {
        computed = false;
        if (t >= i + 1 && t <= 254 - i && valid) {
            computed = true;
            int best = min(prev[w], min(prev[t], prev[e]));
            result[t] = best + wall[10000 * (start + i) + x];
        }
        __syncthreads();
        if (i == rows - 1) break;
        if (computed) prev[t] = result[t];
        __syncthreads();
    }
    if (computed) to[x] = result[t];
}
