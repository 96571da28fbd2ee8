//@ verdict: verified
//@ block: 32,8
//@ grid: 4,16
// A two-dimensional grid-stride loop over rows of 1024.

extern "C" __global__ void grid_stride_2d(float *out, const float *in, int w, int h) {
    if (w > 1024) return;
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h && y < 100000; y += blockDim.y * gridDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w; x += blockDim.x * gridDim.x)
            out[y * 1024 + x] = 2.0f * in[y * 1024 + x];
}
