//@ verdict: verified
//@ block: 128
//@ grid: 64
//@ param: tiles=50
// Adds up tiles: the next one is loaded into one buffer while the block works on the other.

extern "C" __global__ void double_buffer_tiles(const float *in, float *out, int tiles) {
    __shared__ float buffer[2][128];
    const float *mine = in + blockIdx.x * tiles * 128;
    int tid = threadIdx.x;
    int current = 0;
    buffer[0][tid] = mine[tid];
    __syncthreads();
    float sum = 0.0f;
    for (int t = 1; t <= tiles; t++) {
        if (t < tiles)
            buffer[current ^ 1][tid] = mine[t * 128 + tid];
        sum += buffer[current][tid] * buffer[current][127 - tid];
        __syncthreads();
        current ^= 1;
    }
    out[blockIdx.x * 128 + tid] = sum;
}
