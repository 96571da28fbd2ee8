//@ verdict: verified-when
//@ block: 128
//@ grid: 64
//@ condition: 1 <= axes_exchanged_param_2 <= 2147483647
//@ condition: 1 <= axes_exchanged_param_3 <= 2147483647
//@ condition: 1 <= axes_exchanged_param_4 <= 2147483647
//@ condition: 1 <= axes_exchanged_param_5 <= 2147483647
//@ condition: axes_exchanged_param_2 * axes_exchanged_param_3 * axes_exchanged_param_4 * axes_exchanged_param_5 <= 1073741824
// Two axes of four are exchanged: one index is divided into all of them and put together in another order.

extern "C" __global__ void axes_exchanged(const float *in, float *out, int batch, int tokens, int heads, int width) {
    int n = batch * tokens * heads * width;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int x = i % width, head = (i / width) % heads, token = (i / (width * heads)) % tokens;
        int item = i / (width * heads * tokens);
        out[((item * heads + head) * tokens + token) * width + x] = in[i];
    }
}
