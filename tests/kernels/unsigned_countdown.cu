//@ verdict: verified
//@ block: 64
//@ grid: 16
// Each thread walks its column backwards until the unsigned row wraps around.

extern "C" __global__ void unsigned_countdown(float *m, unsigned rows) {
    unsigned column = blockIdx.x * 64 + threadIdx.x;
    if (rows > 4096) return;
    float below = 0;
    #pragma unroll 1
    for (unsigned r = rows - 1; r < rows; r--) {
        below += m[r * 1024 + column];
        m[r * 1024 + column] = below;
    }
}
