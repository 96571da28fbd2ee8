//@ verdict: race
//@ block: 32,8
//@ grid: 40,40
// Broken: where the width is odd, the last column is none of the half as many of the rows, but the first one of the next row.

extern "C" __global__ void chroma_plane_broken(unsigned char *chroma, const unsigned char *image, int w, int h) {
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2, y = (blockIdx.y * blockDim.y + threadIdx.y) * 2;
    if (x >= w || y >= h) return;
    chroma[y / 2 * (w / 2) + x / 2] = image[y * w + x];  // RACE
}
