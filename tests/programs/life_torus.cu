//@ verdict: verified
//@ block: 32,4
//@ grid: 8,64
//@ param: width=256
//@ param: height=256
// The game of life on a torus.

__device__ int wrap(int i, int n) { return (i + n) % n; }

extern "C" __global__ void life_torus(const unsigned char *cells, unsigned char *next, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int around = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx != 0 || dy != 0) around += cells[wrap(y + dy, height) * width + wrap(x + dx, width)];
    int i = y * width + x;
    next[i] = around == 3 || (around == 2 && cells[i]);
}
