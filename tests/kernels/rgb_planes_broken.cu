//@ verdict: race
//@ block: 256
//@ grid: 64
// Pixels are two bytes apart although three are written.

extern "C" __global__ void rgb_planes(const unsigned char *grey, unsigned char *rgb) {
    int g = blockIdx.x * 256 + threadIdx.x;
    #pragma unroll 1
    for (int c = 0; c < 3; c++)
        rgb[2 * g + c] = grey[g] >> c;  // RACE
}
