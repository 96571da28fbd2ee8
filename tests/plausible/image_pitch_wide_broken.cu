//@ verdict: race
//@ block: 32,8
//@ grid: 16,16
// Broken: the guard of the columns includes one too many, and that is the first of the next row.

extern "C" __global__ void image_pitch_wide_broken(unsigned *image, size_t pitch, size_t width, size_t height) {
    size_t x = blockIdx.x * blockDim.x + threadIdx.x;
    size_t y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= width && y < height)
        image[y * pitch + x] = ~image[y * pitch + x];  // RACE
}
