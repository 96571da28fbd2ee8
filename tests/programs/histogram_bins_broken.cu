//@ verdict: race
//@ block: 256
//@ grid: 240
//@ param: n=5000000
// Broken: no barrier between the zeroing and the counting.

extern "C" __global__ void histogram_bins_broken(const unsigned char *data, unsigned *histogram, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;  // RACE
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    while (i < n) {
        atomicAdd(&bins[data[i]], 1u);  // RACE
        i += stride;
    }
    __syncthreads();
    atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x]);
}
