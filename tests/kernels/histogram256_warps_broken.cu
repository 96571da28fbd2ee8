//@ verdict: race
//@ block: 192
//@ grid: 32
// No barrier between counting and merging.

extern "C" __global__ void histogram256_warps(unsigned *partial, const unsigned *data, unsigned words) {
    __shared__ unsigned hist[6 * 256];
    unsigned *mine = hist + (threadIdx.x >> 5) * 256;
    #pragma unroll
    for (int i = 0; i < 8; i++) hist[threadIdx.x + i * 192] = 0;
    __syncthreads();
    #pragma unroll 1
    for (unsigned pos = blockIdx.x * blockDim.x + threadIdx.x; pos < words; pos += blockDim.x * gridDim.x) {
        unsigned w = data[pos];
        atomicAdd(mine + (w & 255), 1u);  // RACE
        atomicAdd(mine + (w >> 8 & 255), 1u);  // RACE
        atomicAdd(mine + (w >> 16 & 255), 1u);  // RACE
        atomicAdd(mine + (w >> 24), 1u);  // RACE
    }
    for (int bin = threadIdx.x; bin < 256; bin += 192) {
        unsigned sum = 0;
        for (int i = 0; i < 6; i++) sum += hist[bin + i * 256];  // RACE
        partial[blockIdx.x * 256 + bin] = sum;
    }
}
