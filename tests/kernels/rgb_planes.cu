//@ verdict: verified
//@ block: 256
//@ grid: 64
// Three interleaved channels a pixel.

extern "C" __global__ void rgb_planes(const unsigned char *grey, unsigned char *rgb) {
    int g = blockIdx.x * 256 + threadIdx.x;
    #pragma unroll 1
    for (int c = 0; c < 3; c++)
        rgb[3 * g + c] = grey[g] >> c;
}
