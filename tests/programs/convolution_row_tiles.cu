//@ verdict: verified
//@ block: 64
//@ grid: 16,600
//@ param: width=1000
// Row filter of a separable convolution: the taps lie in constant memory, the tile has a halo at both ends.

__constant__ float taps[17];

extern "C" __global__ void convolution_row_tiles(const float *in, float *out, int width) {
    __shared__ float tile[64 + 16];
    int tid = threadIdx.x, x = blockIdx.x * 64 + tid;
    const float *row = in + blockIdx.y * width;
    tile[tid + 8] = x < width ? row[x] : 0.0f;
    if (tid < 8) tile[tid] = x >= 8 ? row[x - 8] : 0.0f;
    if (tid >= 56) tile[tid + 16] = x + 8 < width ? row[x + 8] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 17; k++)
        sum += taps[k] * tile[tid + k];
    if (x < width) out[blockIdx.y * width + x] = sum;
}
