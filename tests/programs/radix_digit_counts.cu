//@ verdict: verified
//@ block: 16
//@ grid: 256
//@ param: per_thread=64
// Counts of 4-bit digits of a sort: each thread has its own column of counters.

extern "C" __global__ void radix_digit_counts(const unsigned *keys, unsigned *totals, int per_thread, int shift) {
    __shared__ unsigned counts[16 * 16 + 16];
    int tid = threadIdx.x;
    for (int d = 0; d < 16; d++)
        counts[d * 16 + tid] = 0;
    __syncthreads();
    const unsigned *mine = keys + (blockIdx.x * 16 + tid) * per_thread;
    for (int i = 0; i < per_thread; i++) {
        unsigned digit = mine[i] >> shift & 15;
        counts[digit * 16 + tid]++;
    }
    __syncthreads();
    unsigned sum = 0;
    for (int t = 0; t < 16; t++)
        sum += counts[tid * 16 + t];
    totals[tid * gridDim.x + blockIdx.x] = sum;
}
