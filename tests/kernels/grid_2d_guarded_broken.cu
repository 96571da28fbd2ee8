//@ verdict: race
//@ block: 16,16
//@ grid: 64,64
// No guard on the columns.

extern "C" __global__ void grid_2d_guarded(int w, int h, float *img) {
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    if (y < h)
        img[(long long)y * w + x] *= 0.5f;  // RACE
}
