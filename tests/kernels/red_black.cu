//@ verdict: verified
//@ block: 32,8
//@ grid: 16,64
// One colour of a red-black relaxation, in place, rows of 514.

extern "C" __global__ void red_black(float *u, int colour) {
    int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1;
    if (((x + y) & 1) != (colour & 1)) return;
    int i = y * 514 + x;
    u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - 514] + u[i + 514]);
}
