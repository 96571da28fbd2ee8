//@ verdict: verified
//@ block: 128
//@ grid: 512
//@ param: columns=1000
//@ slow: yes
// Softmax of rows: maximum and sum are reduced by warps, then through shared memory.

extern "C" __global__ void softmax_rows(const float *in, float *out, int columns) {
    __shared__ float warps[4];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float *row = in + (size_t)blockIdx.x * columns;
    float largest = -1e30f;
    for (int c = threadIdx.x; c < columns; c += 128)
        largest = fmaxf(largest, row[c]);
    for (int d = 16; d > 0; d >>= 1)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, d));
    if (lane == 0) warps[warp] = largest;
    __syncthreads();
    largest = fmaxf(fmaxf(warps[0], warps[1]), fmaxf(warps[2], warps[3]));
    __syncthreads();
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += 128)
        sum += __expf(row[c] - largest);
    for (int d = 16; d > 0; d >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) warps[warp] = sum;
    __syncthreads();
    sum = warps[0] + warps[1] + warps[2] + warps[3];
    for (int c = threadIdx.x; c < columns; c += 128)
        out[(size_t)blockIdx.x * columns + c] = __expf(row[c] - largest) / sum;
}
