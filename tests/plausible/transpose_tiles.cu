//@ verdict: verified-when
//@ block: 32,8
//@ grid: 64,64
//@ condition: transpose_tiles_param_3 * transpose_tiles_param_2 <= 2147483647
//@ condition: 0 <= transpose_tiles_param_2
//@ condition: 0 <= transpose_tiles_param_3
// The transpose of an image of any width and height, four rows a thread.

#define TILE 32
#define ROWS 8

extern "C" __global__ void transpose_tiles(float *out, const float *in, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];  // OUTSIDE
}
