//@ verdict: race
//@ block: 256
//@ grid: 1024
// The number of the image is multiplied by the width for a second time.

extern "C" __global__ void images_channels_last_broken(float *out, const float *in, int images, int channels, int height, int width) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < images * channels * height * width) {
        int x = cell % width;
        int y = (cell / width) % height;
        int channel = (cell / (width * height)) % channels;
        int image = cell / (width * height * channels);
        out[((image * width + y) * width + x) * channels + channel] = in[cell];  // RACE
    }
}
