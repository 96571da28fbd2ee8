//@ verdict: verified
//@ block: 256
//@ grid: 128
//@ param: columns=1000
// Mean and variance of each row: one block a row, two tree reductions in one array.

extern "C" __global__ void mean_variance(const float *data, float *mean, float *variance, int columns) {
    __shared__ float partial[256];
    const float *row = data + blockIdx.x * columns;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        sum += row[c];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    float m = partial[0] / columns;
    __syncthreads();
    float squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        squares += (row[c] - m) * (row[c] - m);
    partial[threadIdx.x] = squares;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        variance[blockIdx.x] = partial[0] / columns;
    }
}
