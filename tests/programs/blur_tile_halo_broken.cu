//@ verdict: race
//@ block: 16,16
//@ grid: 40,30
//@ param: width=640
//@ param: height=480
// Broken: the tile is used before it is loaded.

#define R 2
#define W (16 + 2 * R)

extern "C" __global__ void blur_tile_halo_broken(const float *in, float *out, int width, int height) {
    __shared__ float tile[W * W];
    int x0 = blockIdx.x * 16 - R, y0 = blockIdx.y * 16 - R;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < W * W; i += 256) {
        int x = min(max(x0 + i % W, 0), width - 1);
        int y = min(max(y0 + i / W, 0), height - 1);
        tile[i] = in[y * width + x];  // RACE
    }
    float sum = 0.0f;
    for (int dy = 0; dy <= 2 * R; dy++)
        for (int dx = 0; dx <= 2 * R; dx++)
            sum += tile[(threadIdx.y + dy) * W + threadIdx.x + dx];  // RACE
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) out[y * width + x] = sum / 25.0f;
}
