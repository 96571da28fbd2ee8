//@ verdict: verified
//@ block: 64
//@ grid: 32,8
// Sobol numbers, one dimension a row of blocks; each thread jumps by a power of two.

extern "C" __global__ void sobol(const unsigned *directions, float *out, int n) {
    __shared__ unsigned v[32];
    directions += 32 * blockIdx.y;
    out += 100000 * blockIdx.y;
    if (n > 100000) return;
    if (threadIdx.x < 32) v[threadIdx.x] = directions[threadIdx.x];
    __syncthreads();
    int i0 = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    unsigned gray = i0 ^ (i0 >> 1), x = 0;
    for (unsigned k = 0; k < __ffs(stride) - 1; k++) {
        x ^= -(gray & 1) & v[k];
        gray >>= 1;
    }
    if (i0 < n) out[i0] = x * 2.3e-10f;
    unsigned high = v[__ffs(stride) - 2];
    for (int i = i0 + stride; i < n; i += stride) {
        x ^= high ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
        out[i] = x * 2.3e-10f;
    }
}
