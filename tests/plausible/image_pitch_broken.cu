//@ verdict: race
//@ block: 32,8
//@ grid: 64,64
// Broken: the guard of the columns includes one too many, and that is the first of the next row.

extern "C" __global__ void image_pitch_broken(unsigned *image, int pitch, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= width && y < height)
        image[y * pitch + x] = ~image[y * pitch + x];  // RACE
}
