//@ verdict: verified
//@ block: 256
//@ grid: 3600
//@ param: pixels=921600
// Converts interleaved colours, three bytes a pixel.

extern "C" __global__ void rgb_to_ycc(const unsigned char *rgb, unsigned char *ycc, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    unsigned char *to = ycc + 3 * i;
    to[0] = 0.299f * r + 0.587f * g + 0.114f * b;
    to[1] = 128.0f - 0.169f * r - 0.331f * g + 0.5f * b;
    to[2] = 128.0f + 0.5f * r - 0.419f * g - 0.081f * b;
}
