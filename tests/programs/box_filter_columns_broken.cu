//@ verdict: race
//@ block: 64
//@ grid: 16
//@ param: width=1000
//@ param: height=600
//@ param: radius=5
//@ slow: yes
// Broken: nothing keeps the last block inside the image; a column too many is the first one, a row below.

extern "C" __global__ void box_filter_columns_broken(const float *in, float *out, int width, int height, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float scale = 1.0f / (2 * radius + 1);
    float sum = in[x] * radius;
    for (int y = 0; y < radius + 1; y++)
        sum += in[y * width + x];
    out[x] = sum * scale;  // RACE
    for (int y = 1; y < height; y++) {
        int bottom = y + radius < height ? y + radius : height - 1;
        int top = y - radius - 1 > 0 ? y - radius - 1 : 0;
        sum += in[bottom * width + x] - in[top * width + x];
        out[y * width + x] = sum * scale;  // RACE
    }
}
