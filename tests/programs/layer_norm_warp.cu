//@ verdict: verified
//@ block: 128
//@ grid: 250
//@ param: rows=1000
//@ param: width=768
//@ slow: yes
// Layer norm: a warp a row, sums by shuffles; the first lane keeps mean and deviation for the backward pass.

extern "C" __global__ void layer_norm_warp(const float *in, float *out, float *means, float *scales, int rows, int width) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float *x = in + row * width;
    float sum = 0.0f, squares = 0.0f;
    for (int i = lane; i < width; i += 32) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    for (int d = 16; d > 0; d >>= 1) {
        sum += __shfl_down_sync(0xffffffffu, sum, d);
        squares += __shfl_down_sync(0xffffffffu, squares, d);
    }
    float mean = __shfl_sync(0xffffffffu, sum, 0) / width;
    float scale = rsqrtf(__shfl_sync(0xffffffffu, squares, 0) / width - mean * mean + 1e-5f);
    if (lane == 0) {
        means[row] = mean;
        scales[row] = scale;
    }
    for (int i = lane; i < width; i += 32)
        out[row * width + i] = (x[i] - mean) * scale;
}
