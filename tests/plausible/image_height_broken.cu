//@ verdict: race
//@ block: 16,16
//@ grid: 64,64
// The height guards the rows, so as the length of a row it is a mistake, and no condition `height >= width` hides it.
extern "C" __global__ void image_height_broken(float *image, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) image[y * height + x] += 1.0f;  // RACE
}
