//@ verdict: verified-when
//@ block: 32,8
//@ grid: 64,64
//@ condition: image_pitch_param_1 >= image_pitch_param_2
//@ condition: image_pitch_param_1 * image_pitch_param_3 <= 2147483647
//@ condition: 0 <= image_pitch_param_1
//@ condition: 0 <= image_pitch_param_2
//@ condition: 0 <= image_pitch_param_3
// Inverts an image whose rows start `pitch` elements apart; `pitch >= width` holds in every host.

extern "C" __global__ void image_pitch(unsigned *image, int pitch, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        image[y * pitch + x] = ~image[y * pitch + x];  // OUTSIDE
}
