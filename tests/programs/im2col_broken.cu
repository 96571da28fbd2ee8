//@ verdict: race
//@ block: 256
//@ grid: 13
//@ param: n=3136
//@ param: size=56
// Broken: the rows of the result are one column too short.

extern "C" __global__ void im2col_broken(const float *image, float *columns, int n, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = i % size, y = i / size;
    for (int row = 0; row < 9; row++) {
        int u = x + row % 3 - 1, v = y + row / 3 - 1;
        bool inside = u >= 0 && v >= 0 && u < size && v < size;
        columns[row * (n - 1) + i] = inside ? image[v * size + u] : 0.0f;  // RACE
    }
}
