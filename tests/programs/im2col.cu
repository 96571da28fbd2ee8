//@ verdict: verified
//@ block: 256
//@ grid: 13
//@ param: n=3136
//@ param: size=56
// Unrolls 3 x 3 windows into columns: a thread has one window and writes nine rows.

extern "C" __global__ void im2col(const float *image, float *columns, int n, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = i % size, y = i / size;
    for (int row = 0; row < 9; row++) {
        int u = x + row % 3 - 1, v = y + row / 3 - 1;
        bool inside = u >= 0 && v >= 0 && u < size && v < size;
        columns[row * n + i] = inside ? image[v * size + u] : 0.0f;
    }
}
