//@ verdict: verified-when
//@ block: 16,16
//@ grid: 64,64
//@ condition: image_height_param_1 * image_height_param_2 <= 2147483647
//@ condition: 0 <= image_height_param_1
//@ condition: 0 <= image_height_param_2
// An image whose rows are as long as it is wide.
extern "C" __global__ void image_height(float *image, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) image[y * width + x] += 1.0f;  // OUTSIDE
}
