//@ verdict: verified
//@ block: 256
//@ grid: 50
//@ param: columns=1000
//@ slow: yes
// Index of the largest number of each row; values and indices are reduced side by side.

extern "C" __global__ void argmax_block(const float *scores, int *best, int columns) {
    __shared__ float value[256];
    __shared__ int index[256];
    int tid = threadIdx.x;
    value[tid] = -1e30f;
    index[tid] = 0;
    for (int c = tid; c < columns; c += 256) {
        float score = scores[blockIdx.x * columns + c];
        if (score > value[tid]) value[tid] = score, index[tid] = c;
    }
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (tid < s && value[tid + s] > value[tid]) {
            value[tid] = value[tid + s];
            index[tid] = index[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) best[blockIdx.x] = index[0];
}
