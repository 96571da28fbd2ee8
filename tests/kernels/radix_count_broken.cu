//@ verdict: race
//@ block: 128
//@ grid: 64
// The sums start before all digits are counted.

extern "C" __global__ void radix_count(const unsigned *keys, unsigned *counts, int shift) {
    __shared__ unsigned short count[16 * 128];
    int t = threadIdx.x;
    #pragma unroll
    for (int d = 0; d < 16; d++) count[d * 128 + t] = 0;  // RACE
    #pragma unroll 1
    for (int i = 0; i < 8; i++) {
        unsigned digit = keys[(blockIdx.x * 8 + i) * 128 + t] >> shift & 15;
        count[digit * 128 + t]++;  // RACE
    }
    if (t < 16) {
        unsigned sum = 0;
        #pragma unroll 1
        for (int i = 0; i < 128; i++) sum += count[t * 128 + i];  // RACE
        counts[t * gridDim.x + blockIdx.x] = sum;
    }
}
