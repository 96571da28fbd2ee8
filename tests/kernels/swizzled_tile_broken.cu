//@ verdict: race
//@ block: 32,32
//@ grid: 16,16
// Read back without the swizzle of the writer's row, before a barrier.

extern "C" __global__ void swizzled_tile(float *out, const float *in) {
    __shared__ float tile[32 * 32];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y * 32 + (x ^ y)] = in[(blockIdx.y * 32 + y) * 512 + blockIdx.x * 32 + x];  // RACE
    out[(blockIdx.x * 32 + y) * 512 + blockIdx.y * 32 + x] = tile[x * 32 + (y ^ x)];  // RACE
}
