//@ verdict: verified
//@ block: 64
//@ grid: 16
//@ param: width=1000
//@ param: height=600
//@ param: radius=5
//@ slow: yes
// Box filter: a thread runs down a column with a rolling sum.

extern "C" __global__ void box_filter_columns(const float *in, float *out, int width, int height, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    float scale = 1.0f / (2 * radius + 1);
    float sum = in[x] * radius;
    for (int y = 0; y < radius + 1; y++)
        sum += in[y * width + x];
    out[x] = sum * scale;
    for (int y = 1; y < height; y++) {
        int bottom = y + radius < height ? y + radius : height - 1;
        int top = y - radius - 1 > 0 ? y - radius - 1 : 0;
        sum += in[bottom * width + x] - in[top * width + x];
        out[y * width + x] = sum * scale;
    }
}
