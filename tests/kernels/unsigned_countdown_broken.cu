//@ verdict: race
//@ block: 64
//@ grid: 16
// The step is one column short.

extern "C" __global__ void unsigned_countdown(float *m, unsigned rows) {
    unsigned column = blockIdx.x * 64 + threadIdx.x;
    if (rows > 4096) return;
    float below = 0;
    #pragma unroll 1
    for (unsigned r = rows - 1; r < rows; r--) {
        below += m[r * 1023 + column];  // RACE
        m[r * 1023 + column] = below;  // RACE
    }
}
