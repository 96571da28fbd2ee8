//@ verdict: race
//@ block: 32,8
//@ grid: 8,64
// The rows are not shifted.

extern "C" __global__ void red_black_half(float *u, int colour) {
    int y = blockIdx.y * 8 + threadIdx.y + 1;
    int x = 2 * (blockIdx.x * 32 + threadIdx.x) + 1;
    int i = y * 514 + x;
    u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - 514] + u[i + 514]);  // RACE
}
