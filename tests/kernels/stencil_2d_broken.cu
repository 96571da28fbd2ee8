//@ verdict: race
//@ block: 16,16
//@ grid: 16,16
// No guard on the columns, so column 251 is column 1 of the next row.

#define W 250
extern "C" __global__ void stencil_2d(const float *in, float *out) {
    int x = blockIdx.x * 16 + threadIdx.x + 1;
    int y = blockIdx.y * 16 + threadIdx.y + 1;
    if (y >= W - 1) return;
    int i = y * W + x;
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - W] + in[i + W]) - in[i];  // RACE
}
