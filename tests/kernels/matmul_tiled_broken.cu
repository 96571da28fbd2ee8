//@ verdict: race
//@ block: 16,16
//@ grid: 16,16
// No barrier after the inner product: a fast thread refills the tiles.

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c) {
    __shared__ float sa[16][16], sb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0.0f;
    for (int m = 0; m < 16; m++) {
        float va = a[row * 256 + m * 16 + tx], vb = b[(m * 16 + ty) * 256 + col];
        sa[ty][tx] = va, sb[ty][tx] = vb;  // RACE
        __syncthreads();
        for (int k = 0; k < 16; k++)
            acc += sa[ty][k] * sb[k][tx];  // RACE
    }
    c[row * 256 + col] = acc;
}
