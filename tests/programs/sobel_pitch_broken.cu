//@ verdict: race
//@ block: 16,16
//@ grid: 120,68
//@ param: width=1912
//@ param: height=1080
//@ param: pitch=1920
// Broken: the result is written with rows as long as the image is high.

extern "C" __global__ void sobel_pitch_broken(const unsigned char *in, unsigned char *out, int pitch, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    const unsigned char *p = in + y * pitch + x;
    int gx = p[1 - pitch] + 2 * p[1] + p[1 + pitch] - p[-1 - pitch] - 2 * p[-1] - p[-1 + pitch];
    int gy = p[pitch - 1] + 2 * p[pitch] + p[pitch + 1] - p[-pitch - 1] - 2 * p[-pitch] - p[-pitch + 1];
    int magnitude = abs(gx) + abs(gy);
    out[y * height + x] = magnitude > 255 ? 255 : magnitude;  // RACE
}
