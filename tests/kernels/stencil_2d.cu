//@ verdict: verified
//@ block: 16,16
//@ grid: 16,16
// Five-point stencil on rows of 250; the grid overshoots and is guarded.

#define W 250
extern "C" __global__ void stencil_2d(const float *in, float *out) {
    int x = blockIdx.x * 16 + threadIdx.x + 1;
    int y = blockIdx.y * 16 + threadIdx.y + 1;
    if (x >= W - 1 || y >= W - 1) return;
    int i = y * W + x;
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - W] + in[i + W]) - in[i];
}
