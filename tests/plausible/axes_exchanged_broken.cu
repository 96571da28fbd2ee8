//@ verdict: race
//@ block: 128
//@ grid: 64
// Broken: the rows of a head are as many as there are heads, which is wrong where there are more tokens.

extern "C" __global__ void axes_exchanged_broken(const float *in, float *out, int batch, int tokens, int heads,
                                                 int width) {
    int n = batch * tokens * heads * width;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int x = i % width, head = (i / width) % heads, token = (i / (width * heads)) % tokens;
        int item = i / (width * heads * tokens);
        out[((item * heads + head) * heads + token) * width + x] = in[i];  // RACE
    }
}
