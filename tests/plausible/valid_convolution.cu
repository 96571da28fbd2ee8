//@ verdict: verified-when
//@ block: 16,16
//@ grid: 8,8,4
//@ condition: 1 <= valid_convolution_param_3 <= 2147483647
//@ condition: 1 <= valid_convolution_param_4 <= 2147483647
//@ condition: 1 <= valid_convolution_param_5 <= 2147483647
//@ condition: gridDim.z * valid_convolution_param_3 * valid_convolution_param_4 <= 2147483647
// The places where a filter of any radius lies inside an image: how long the rows of the result are is a difference of sizes.

extern "C" __global__ void valid_convolution(float *out, const float *in, const float *filter, int h, int w, int size) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, plane = blockIdx.z;
    int out_h = h - size + 1, out_w = w - size + 1;
    if (x >= out_w || y >= out_h) return;
    float sum = 0;
    for (int i = 0; i < size; i++)
        sum += in[(plane * h + y + i) * w + x] * filter[i];
    out[(plane * out_h + y) * out_w + x] = sum;  // OUTSIDE
}
