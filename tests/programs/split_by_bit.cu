//@ verdict: verified
//@ block: 256
//@ grid: 40
// One step of a radix sort in a block: keys with a zero come first. A scan by doubling gives the places.

extern "C" __global__ void split_by_bit(unsigned *keys, unsigned *zeros, int bit) {
    __shared__ unsigned ones[256];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
    ones[tid] = keys[i] >> bit & 1;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        unsigned sum = ones[tid];
        if (tid >= d) sum += ones[tid - d];
        __syncthreads();
        ones[tid] = sum;
        __syncthreads();
    }
    zeros[i] = tid + 1 - ones[tid];
    if (tid == 255) keys[i] = 256 - ones[255];
}
