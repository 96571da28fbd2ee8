//@ verdict: race
//@ block: 64
//@ grid: 32
// The rows of counters are too short, so bins of different threads overlap.

extern "C" __global__ void histogram64(unsigned *partial, const unsigned *data, unsigned words) {
    __shared__ unsigned char count[64 * 64];
    int t = threadIdx.x;
    #pragma unroll 1
    for (int i = 0; i < 16; i++) ((unsigned *)count)[t + i * 64] = 0;
    __syncthreads();
    #pragma unroll 1
    for (unsigned pos = blockIdx.x * 64 + t; pos < words; pos += 64 * gridDim.x) {
        unsigned w = data[pos];
        count[t + ((w >> 2) & 63) * 32]++;  // RACE
        count[t + ((w >> 10) & 63) * 32]++;  // RACE
    }
    __syncthreads();
    unsigned sum = 0;
    #pragma unroll 1
    for (int i = 0; i < 64; i++) sum += count[t * 64 + ((i + t) & 63)];
    partial[blockIdx.x * 64 + t] = sum;
}
