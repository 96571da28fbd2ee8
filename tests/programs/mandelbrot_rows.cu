//@ verdict: verified
//@ block: 16,16
//@ grid: 50,38
//@ param: width=800
//@ param: height=600
// The Mandelbrot set, a pixel a thread.

extern "C" __global__ void mandelbrot_rows(unsigned *pixels, int width, int height, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float cx = 3.0f * px / width - 2.0f, cy = 2.0f * py / height - 1.0f;
    float x = 0.0f, y = 0.0f;
    int steps = 0;
    while (x * x + y * y < 4.0f && steps < limit) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        steps++;
    }
    pixels[py * width + px] = steps;
}
