//@ verdict: verified
//@ block: 256
//@ grid: 16
// Odd-even merge sort of 512 keys a block.

extern "C" __global__ void odd_even_merge_sort(unsigned *keys, unsigned dir) {
    __shared__ unsigned s[512];
    unsigned t = threadIdx.x, base = blockIdx.x * 512;
    s[t] = keys[base + t];
    s[t + 256] = keys[base + t + 256];
    #pragma unroll 1
    for (unsigned size = 2; size <= 512; size <<= 1) {
        unsigned stride = size / 2;
        unsigned offset = t & (stride - 1);
        __syncthreads();
        unsigned pos = 2 * t - (t & (stride - 1));
        unsigned a = s[pos], b = s[pos + stride];
        if ((a > b) == dir) s[pos] = b, s[pos + stride] = a;
        stride >>= 1;
        #pragma unroll 1
        for (; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned p = 2 * t - (t & (stride - 1));
            if (offset >= stride) {
                unsigned c = s[p - stride], d = s[p];
                if ((c > d) == dir) s[p - stride] = d, s[p] = c;
            }
        }
    }
    __syncthreads();
    keys[base + t] = s[t];
    keys[base + t + 256] = s[t + 256];
}
