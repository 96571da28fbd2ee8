//@ verdict: verified-when
//@ block: 32,8
//@ grid: 16,16
//@ condition: strips_of_tile_param_2 >= 512
//@ condition: 32 * gridDim.y * strips_of_tile_param_2 <= 2147483647
//@ condition: 0 <= strips_of_tile_param_2
// Tiles of 32 by 32, of which each thread has four places, with no guard: rows go 32 times as far as blocks, not 8 times.

extern "C" __global__ void strips_of_tile(float *out, const float *in, int pitch) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int strip = 0; strip < 32; strip += 8)
        out[(y + strip) * pitch + x] = in[(y + strip) * pitch + x];  // OUTSIDE
}
