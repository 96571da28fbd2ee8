//@ verdict: verified
//@ block: 16
//@ grid: 16
// A tile of an alignment in shared memory, diagonal by diagonal, there and back.

extern "C" __global__ void needleman_wunsch(const int *reference, int *items, int penalty, int step) {
    __shared__ int s[17][17], ref[16][16];
    int t = threadIdx.x, bx = blockIdx.x, by = step - 1 - bx;
    if (by < 0 || step > 32) return;
    int base = 513 * 16 * by + 16 * bx;
    #pragma unroll 1
    for (int y = 0; y < 16; y++) ref[y][t] = reference[base + 513 * (y + 1) + t + 1];
    s[t + 1][0] = items[base + 513 * (t + 1)];
    s[0][t + 1] = items[base + t + 1];
    if (t == 0) s[0][0] = items[base];
    __syncthreads();
    #pragma unroll 1
    for (int m = 0; m < 16; m++) {
        if (t <= m) {
            int x = t + 1, y = m - t + 1;
            int a = s[y - 1][x - 1] + ref[y - 1][x - 1], b = s[y][x - 1] - penalty, c = s[y - 1][x] - penalty;
            s[y][x] = max(a, max(b, c));
        }
        __syncthreads();
    }
    #pragma unroll 1
    for (int m = 14; m >= 0; m--) {
        if (t <= m) {
            int x = t + 16 - m, y = 16 - t;
            int a = s[y - 1][x - 1] + ref[y - 1][x - 1], b = s[y][x - 1] - penalty, c = s[y - 1][x] - penalty;
            s[y][x] = max(a, max(b, c));
        }
        __syncthreads();
    }
    #pragma unroll 1
    for (int y = 0; y < 16; y++) items[base + 513 * (y + 1) + t + 1] = s[y + 1][t + 1];
}
