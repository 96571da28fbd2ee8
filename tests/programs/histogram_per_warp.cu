//@ verdict: verified
//@ block: 192
//@ grid: 120
//@ param: words=1000000
//@ slow: yes
// Histogram with a copy of the bins for each of six warps, which are added up at the end.

#define BINS 64
#define WARPS 6

__device__ inline void count(unsigned *bins, unsigned byte) { atomicAdd(bins + (byte >> 2), 1); }

extern "C" __global__ void histogram_per_warp(const unsigned *data, unsigned *partial, int words) {
    __shared__ unsigned bins[WARPS * BINS];
    for (int i = threadIdx.x; i < WARPS * BINS; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    unsigned *mine = bins + (threadIdx.x >> 5) * BINS;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += blockDim.x * gridDim.x) {
        unsigned word = data[i];
        for (int byte = 0; byte < 4; byte++)
            count(mine, word >> 8 * byte & 255);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += bins[bin + w * BINS];
        partial[blockIdx.x * BINS + bin] = sum;
    }
}
