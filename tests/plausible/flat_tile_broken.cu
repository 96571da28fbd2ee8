//@ verdict: race
//@ block: 256
//@ grid: 8,8
// Broken: the next thread begins in the last of these columns.

extern "C" __global__ void flat_tile_broken(float *out, int pitch) {
    int row = threadIdx.x / 16, column = threadIdx.x % 16 * 8;
    for (int j = 0; j < 9; j++)
        out[(size_t)(blockIdx.y * 16 + row) * pitch + blockIdx.x * 128 + column + j] = j;  // RACE
}
