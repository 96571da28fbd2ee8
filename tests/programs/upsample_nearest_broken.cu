//@ verdict: race
//@ block: 16,16
//@ grid: 20,15
//@ param: width=320
//@ param: height=240
// Broken: rows of the result are as long as those of the source.

extern "C" __global__ void upsample_nearest_broken(const unsigned *in, unsigned *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    unsigned pixel = in[y * width + x];
    unsigned *to = out + 2 * y * width + 2 * x;
    to[0] = pixel;  // RACE
    to[1] = pixel;  // RACE
    to[width] = pixel;  // RACE
    to[width + 1] = pixel;  // RACE
}
