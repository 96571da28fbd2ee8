//@ verdict: verified-when
//@ block: 32,8
//@ grid: 40,40
//@ condition: chroma_plane_param_2 * chroma_plane_param_3 <= 2147483647
//@ condition: 0 <= chroma_plane_param_2
//@ condition: 0 <= chroma_plane_param_3
// One value for each square of two by two pixels: rows have half the width of the image.

extern "C" __global__ void chroma_plane(unsigned char *chroma, const unsigned char *image, int w, int h) {
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2, y = (blockIdx.y * blockDim.y + threadIdx.y) * 2;
    if (x + 1 >= w || y + 1 >= h) return;
    chroma[y / 2 * (w / 2) + x / 2] = image[y * w + x];  // OUTSIDE
}
