//@ verdict: race
//@ block: 16,16
//@ grid: 64,64
// Rows of 1000 bytes, pixels of four.

extern "C" __global__ void mandelbrot(unsigned char *image, float scale, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 1000 || y >= 1000) return;
    float cx = (x - 500) * scale, cy = (y - 500) * scale, zx = cx, zy = cy;
    int n = 0;
    while (n < limit) {
        float xx = zx * zx, yy = zy * zy;
        if (xx + yy > 4.0f) break;
        zy = 2 * zx * zy + cy;
        zx = xx - yy + cx;
        n++;
    }
    unsigned char *p = image + y * 1000 + x * 4;
    p[0] = n;  // RACE
    p[1] = n >> 1;  // RACE
    p[2] = n >> 2;  // RACE
    p[3] = 255;  // RACE
}
