//@ verdict: race
//@ block: 64
//@ grid: 4
// Broken: the block waits for itself only.
extern "C" __global__ void grid_sync_once_broken(const unsigned char *data, unsigned *parts, unsigned *sums, int n) {
    __shared__ unsigned bins[64];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 64 * gridDim.x) atomicAdd(&bins[data[i] & 63], 1);
    __syncthreads();
    parts[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];  // RACE
    __syncthreads();
    if (blockIdx.x == 0) {
        unsigned sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += parts[b * 64 + threadIdx.x];  // RACE
        sums[threadIdx.x] = sum;
    }
}
