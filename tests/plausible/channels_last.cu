//@ verdict: verified-when
//@ block: 256
//@ grid: 1024
//@ condition: 1 <= channels_last_param_2 <= 2147483647
//@ condition: 1 <= channels_last_param_3 <= 2147483647
//@ condition: 1 <= channels_last_param_4 <= 2147483647
//@ condition: channels_last_param_2 * channels_last_param_3 * channels_last_param_4 <= 2147483647
// One thread for each cell of a volume, taken apart into its digits and put together in another order.

extern "C" __global__ void channels_last(float *out, const float *in, int channels, int height, int width) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < channels * height * width) {
        int x = cell % width;
        int y = (cell / width) % height;
        int channel = cell / (width * height);
        out[(y * width + x) * channels + channel] = in[cell];  // OUTSIDE
    }
}
