//@ verdict: race
//@ block: 256
//@ grid: 64
// Broken: no barrier between the rounds of the tree.

extern "C" __global__ void reduce_wide_broken(float *sums, const float *x, size_t n) {
    __shared__ float part[256];
    size_t t = threadIdx.x;
    float sum = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + t; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += x[i];
    part[t] = sum;
    __syncthreads();
    for (size_t distance = blockDim.x / 2; distance > 0; distance >>= 1) {
        if (t < distance)
            part[t] += part[t + distance];  // RACE
    }
    __syncthreads();
    if (t == 0)
        sums[blockIdx.x] = part[0];
}
