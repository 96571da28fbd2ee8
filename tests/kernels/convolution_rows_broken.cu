//@ verdict: race
//@ block: 16,4
//@ grid: 16,64
// No barrier between the loads of the tile and the sum.

__constant__ float weights[17];
extern "C" __global__ void convolution_rows(float *out, const float *in) {
    __shared__ float s[4][16 * 6];
    int x0 = (blockIdx.x * 4 - 1) * 16 + threadIdx.x;
    int y = blockIdx.y * 4 + threadIdx.y;
    in += y * 1024 + x0;
    out += y * 1024 + x0;
    #pragma unroll
    for (int i = 1; i < 5; i++) s[threadIdx.y][threadIdx.x + i * 16] = in[i * 16];  // RACE
    s[threadIdx.y][threadIdx.x] = x0 >= 0 ? in[0] : 0;  // RACE
    s[threadIdx.y][threadIdx.x + 80] = 1024 - x0 > 80 ? in[80] : 0;  // RACE
    #pragma unroll
    for (int i = 1; i < 5; i++) {
        float sum = 0;
        #pragma unroll
        for (int j = -8; j <= 8; j++) sum += weights[8 - j] * s[threadIdx.y][threadIdx.x + i * 16 + j];  // RACE
        out[i * 16] = sum;
    }
}
