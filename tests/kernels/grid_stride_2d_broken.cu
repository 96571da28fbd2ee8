//@ verdict: race
//@ block: 32,8
//@ grid: 4,16
// The inner loop goes on past the end of the row.

extern "C" __global__ void grid_stride_2d(float *out, const float *in, int w, int h) {
    if (w > 1024) return;
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h && y < 100000; y += blockDim.y * gridDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w + 8; x += blockDim.x * gridDim.x)
            out[y * 1024 + x] = 2.0f * in[y * 1024 + x];  // RACE
}
