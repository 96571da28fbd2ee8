//@ verdict: race
//@ block: 256
//@ grid: 16
// No barrier between the strides of a merge.

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
        unsigned a = s[pos], b = s[pos + stride];  // RACE
        if ((a > b) == dir) s[pos] = b, s[pos + stride] = a;  // RACE
        stride >>= 1;
        #pragma unroll 1
        for (; stride > 0; stride >>= 1) {
            unsigned p = 2 * t - (t & (stride - 1));
            if (offset >= stride) {
                unsigned c = s[p - stride], d = s[p];  // RACE
                if ((c > d) == dir) s[p - stride] = d, s[p] = c;  // RACE
            }
        }
    }
    __syncthreads();
    keys[base + t] = s[t];  // RACE
    keys[base + t + 256] = s[t + 256];  // RACE
}
