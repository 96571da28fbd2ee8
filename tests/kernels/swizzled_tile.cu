//@ verdict: verified
//@ block: 32,32
//@ grid: 16,16
// A transposition without padding: columns are swizzled by the row.

extern "C" __global__ void swizzled_tile(float *out, const float *in) {
    __shared__ float tile[32 * 32];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y * 32 + (x ^ y)] = in[(blockIdx.y * 32 + y) * 512 + blockIdx.x * 32 + x];
    __syncthreads();
    out[(blockIdx.x * 32 + y) * 512 + blockIdx.y * 32 + x] = tile[x * 32 + (y ^ x)];
}
