//@ verdict: verified
//@ block: 16,16
//@ grid: 64,64
// Rows of any width, guarded in both directions, 64-bit index.

extern "C" __global__ void grid_2d_guarded(int w, int h, float *img) {
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    if (x < w && y < h)
        img[(long long)y * w + x] *= 0.5f;
}
