//@ verdict: verified
//@ block: 32,8
//@ grid: 4,16
// Seven-point stencil marching along z, columns held in registers.

extern "C" __global__ void stencil_3d(const float *in, float *out, int nz) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 8 + threadIdx.y;
    int plane = 128 * 128;
    int i = y * 128 + x;
    float below = in[i], here = in[i + plane];
    #pragma unroll 1
    for (int z = 1; z < 31 && z < nz; z++) {
        i += plane;
        float above = in[i + plane];
        out[i] = below + above + in[i - 1] + in[i + 1] - 4.0f * here;
        below = here;
        here = above;
    }
}
