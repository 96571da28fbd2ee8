//@ verdict: verified-when
//@ condition: blockDim.y == 1
//@ condition: blockDim.z == 1
//@ condition: gridDim.y == 1
//@ condition: gridDim.z == 1
//@ condition: 1 <= images_channels_last_param_2 <= 2147483647
//@ condition: 1 <= images_channels_last_param_3 <= 2147483647
//@ condition: 1 <= images_channels_last_param_4 <= 2147483647
//@ condition: 1 <= images_channels_last_param_5 <= 2147483647
//@ condition: images_channels_last_param_2 * images_channels_last_param_3 * images_channels_last_param_4 * images_channels_last_param_5 <= 2147483647
// A batch of images, the channels of which come last behind it: four digits, of which the last one has no size that divides.

extern "C" __global__ void images_channels_last(float *out, const float *in, int images, int channels, int height, int width) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < images * channels * height * width) {
        int x = cell % width;
        int y = (cell / width) % height;
        int channel = (cell / (width * height)) % channels;
        int image = cell / (width * height * channels);
        out[((image * height + y) * width + x) * channels + channel] = in[cell];
    }
}
