//@ verdict: race
//@ block: 32,8
//@ grid: 4,13
//@ param: w=100
//@ param: h=100
// The row is multiplied by w - 1.

extern "C" __global__ void grid_2d_fixed(int w, int h, float *img) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        img[y * (w - 1) + x] += 1.0f;  // RACE
}
