//@ verdict: race
//@ block: 64
//@ grid: 16
//@ param: descending=0
// The last round begins without a barrier, as if its pairs were those of one warp.

__device__ void order(unsigned &key, unsigned &other, unsigned descending) {
    if ((key > other) != descending) {  // RACE
        unsigned k = key;  // RACE
        key = other;  // RACE
        other = k;  // RACE
    }
}

extern "C" __global__ void bitonic_merge_tile_broken(unsigned *keys, unsigned descending) {
    __shared__ unsigned k[128];
    unsigned t = threadIdx.x, base = blockIdx.x * 128;
    k[t] = keys[base + t];
    k[t + 64] = keys[base + t + 64];
    for (unsigned stride = 64; stride > 0; stride >>= 1) {
        if (stride > 1) __syncthreads();
        unsigned at = 2 * t - (t & (stride - 1));
        order(k[at], k[at + stride], descending);
    }
    __syncthreads();
    keys[base + t] = k[t];
    keys[base + t + 64] = k[t + 64];
}
