//@ verdict: verified-when
//@ block: 32,8
//@ grid: 16,16
//@ condition: 1 <= image_pitch_wide_param_1 <= 72057594037927936
//@ condition: 1 <= image_pitch_wide_param_3 <= 72057594037927936
//@ condition: image_pitch_wide_param_1 >= image_pitch_wide_param_2
//@ condition: image_pitch_wide_param_1 * image_pitch_wide_param_3 <= 72057594037927936
//@ condition: 0 <= image_pitch_wide_param_2
// An image whose rows start `pitch` elements apart, with sizes of 64 bits; `pitch >= width` holds in every host.

extern "C" __global__ void image_pitch_wide(unsigned *image, size_t pitch, size_t width, size_t height) {
    size_t x = blockIdx.x * blockDim.x + threadIdx.x;
    size_t y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        image[y * pitch + x] = ~image[y * pitch + x];  // OUTSIDE
}
