//@ verdict: verified
//@ block: 16,16
//@ grid: 2,2,64
//@ param: channels=3
//@ param: size=28
// Convolution of images with 3 x 3 kernels; a block of threads for each output channel.

extern "C" __global__ void conv_channels(const float *in, const float *weights, float *out, int channels, int size) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z;
    if (x >= size || y >= size) return;
    float sum = 0.0f;
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                sum += in[(c * (size + 2) + y + i) * (size + 2) + x + j] * weights[((k * channels + c) * 3 + i) * 3 + j];
    out[(k * size + y) * size + x] = sum;
}
