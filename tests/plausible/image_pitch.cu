//@ verdict: verified-when
//@ block: 32,8
//@ grid: 64,64
//@ condition: height >= 1
//@ condition: pitch * height <= 2147483647
//@ condition: pitch >= width
//@ condition: 0 <= pitch
//@ condition: 0 <= width
// Inverts an image whose rows start `pitch` elements apart; `pitch >= width` holds in every host.

extern "C" __global__ void image_pitch(unsigned *image, int pitch, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        image[y * pitch + x] = ~image[y * pitch + x];  // OUTSIDE
}
