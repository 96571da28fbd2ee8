//@ verdict: verified
//@ block: 256
//@ grid: 240
//@ param: n=5000000
// Histogram of bytes: bins of a block in shared memory, then added to the global ones.

extern "C" __global__ void histogram_bins(const unsigned char *data, unsigned *histogram, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    while (i < n) {
        atomicAdd(&bins[data[i]], 1u);
        i += stride;
    }
    __syncthreads();
    atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x]);
}
