//@ verdict: race
//@ block: 16,8
//@ grid: 64,4
// The results of a block overlap the next block's.

__constant__ float weights[17];
extern "C" __global__ void convolution_columns(float *out, const float *in, int h) {
    __shared__ float s[16][8 * 6 + 1];
    int x = blockIdx.x * 16 + threadIdx.x;
    int y0 = (blockIdx.y * 4 - 1) * 8 + threadIdx.y;
    in += y0 * 1024 + x;
    out += y0 * 1024 + x;
    #pragma unroll 1
    for (int i = 0; i < 6; i++)
        s[threadIdx.x][threadIdx.y + i * 8] = y0 + i * 8 >= 0 && y0 + i * 8 < h ? in[i * 8 * 1024] : 0;
    __syncthreads();
    #pragma unroll 1
    for (int i = 1; i < 6; i++) {
        float sum = 0;
        for (int j = -8; j <= 8; j++) sum += weights[8 - j] * s[threadIdx.x][threadIdx.y + i * 8 + j];
        out[i * 8 * 1024] = sum;  // RACE
    }
}
