//@ verdict: race
//@ block: 16,16
//@ grid: 8,8,4
// Broken: the guard of the columns includes one too many, and that is the first of the next row.

extern "C" __global__ void valid_convolution_broken(float *out, const float *in, const float *filter, int h, int w, int size) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, plane = blockIdx.z;
    int out_h = h - size + 1, out_w = w - size + 1;
    if (x > out_w || y >= out_h) return;
    float sum = 0;
    for (int i = 0; i < size; i++)
        sum += in[(plane * h + y + i) * w + x] * filter[i];
    out[(plane * out_h + y) * out_w + x] = sum;  // RACE
}
