//@ verdict: race
//@ block: 32,4
//@ grid: 8,64
//@ param: width=256
//@ param: height=256
// Broken: only one array: generations are mixed.

__device__ int wrap(int i, int n) { return (i + n) % n; }

extern "C" __global__ void life_torus_broken(unsigned char *cells, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int around = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx != 0 || dy != 0) around += cells[wrap(y + dy, height) * width + wrap(x + dx, width)];  // RACE
    int i = y * width + x;
    cells[i] = around == 3 || (around == 2 && cells[i]);  // RACE
}
