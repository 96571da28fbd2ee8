//@ verdict: verified
//@ block: 16,16
//@ grid: 8,8
//@ param: nx=128
//@ param: ny=128
//@ param: nz=64
// Seven-point stencil that walks along z and keeps the plane of a block in shared memory.

extern "C" __global__ void stencil_3d_planes(const float *in, float *out, int nx, int ny, int nz) {
    __shared__ float plane[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = y * nx + x;
    float below = in[i], here = in[i + nx * ny];
    for (int z = 1; z < nz - 1; z++) {
        float above = in[i + (z + 1) * nx * ny];
        plane[ty][tx] = here;
        __syncthreads();
        if (tx > 0 && tx < 15 && ty > 0 && ty < 15)
            out[i + z * nx * ny] = plane[ty][tx - 1] + plane[ty][tx + 1]
                + plane[ty - 1][tx] + plane[ty + 1][tx] + above + below - 6.0f * here;
        __syncthreads();
        below = here;
        here = above;
    }
}
