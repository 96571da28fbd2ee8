//@ verdict: race
//@ block: 32,8
//@ grid: 64,64
// The pitch of the result is that of the image, so rows overlap where it is higher than wide.

#define TILE 32
#define ROWS 8

extern "C" __global__ void transpose_tiles_broken(float *out, const float *in, int width, int height) {
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
            out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];  // RACE
}
