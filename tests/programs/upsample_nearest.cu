//@ verdict: verified
//@ block: 16,16
//@ grid: 20,15
//@ param: width=320
//@ param: height=240
//@ gap: launch possible-race: four times a row of any width
// Doubles an image: each thread writes four pixels.

extern "C" __global__ void upsample_nearest(const unsigned *in, unsigned *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    unsigned pixel = in[y * width + x];
    unsigned *to = out + 2 * y * (2 * width) + 2 * x;
    to[0] = pixel;
    to[1] = pixel;
    to[2 * width] = pixel;
    to[2 * width + 1] = pixel;
}
