//@ verdict: race
//@ block: 128
//@ grid: 64
//@ param: tiles=50
// Broken: the next tile is stored into the buffer that is in use.

extern "C" __global__ void double_buffer_tiles_broken(const float *in, float *out, int tiles) {
    __shared__ float buffer[2][128];
    const float *mine = in + blockIdx.x * tiles * 128;
    int tid = threadIdx.x;
    int current = 0;
    buffer[0][tid] = mine[tid];
    __syncthreads();
    float sum = 0.0f;
    for (int t = 1; t <= tiles; t++) {
        if (t < tiles)
            buffer[current][tid] = mine[t * 128 + tid];  // RACE
        sum += buffer[current][tid] * buffer[current][127 - tid];  // RACE
        __syncthreads();
        current ^= 1;
    }
    out[blockIdx.x * 128 + tid] = sum;
}
