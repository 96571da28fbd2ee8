//@ verdict: verified-when
//@ block: 256
//@ grid: 8,8
//@ condition: 1 <= flat_tile_param_1 <= 2147483647
//@ condition: flat_tile_param_1 >= 1024
// A block with one axis has a tile of 16 by 16 threads, each of them with eight columns.

extern "C" __global__ void flat_tile(float *out, int pitch) {
    int row = threadIdx.x / 16, column = threadIdx.x % 16 * 8;
    for (int j = 0; j < 8; j++)
        out[(size_t)(blockIdx.y * 16 + row) * pitch + blockIdx.x * 128 + column + j] = j;  // OUTSIDE
}
