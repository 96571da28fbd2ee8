//@ verdict: verified
//@ block: 64
//@ grid: 16
//@ param: descending=0
// Bitonic merges of tiles of 128 keys: the compiler writes the seven rounds out, and the assertions of all rounds
// at once are more than the solver does.

__device__ void order(unsigned &key, unsigned &other, unsigned descending) {
    if ((key > other) != descending) {
        unsigned k = key;
        key = other;
        other = k;
    }
}

extern "C" __global__ void bitonic_merge_tile(unsigned *keys, unsigned descending) {
    __shared__ unsigned k[128];
    unsigned t = threadIdx.x, base = blockIdx.x * 128;
    k[t] = keys[base + t];
    k[t + 64] = keys[base + t + 64];
    for (unsigned stride = 64; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned at = 2 * t - (t & (stride - 1));
        order(k[at], k[at + stride], descending);
    }
    __syncthreads();
    keys[base + t] = k[t];
    keys[base + t + 64] = k[t + 64];
}
