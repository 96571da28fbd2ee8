//@ verdict: verified
//@ block: 256
//@ grid: 16
//@ param: length=512
// Bitonic sort of 512 pairs of key and value, up or down as the caller likes.

__device__ inline void compare(unsigned &ka, unsigned &va, unsigned &kb, unsigned &vb, unsigned dir) {
    if ((ka > kb) == dir) {
        unsigned t = ka;
        ka = kb; kb = t;
        t = va; va = vb; vb = t;
    }
}

extern "C" __global__ void bitonic_direction(unsigned *keys, unsigned *values, unsigned length, unsigned dir) {
    __shared__ unsigned k[512], v[512];
    unsigned t = threadIdx.x, base = blockIdx.x * 512;
    k[t] = keys[base + t];
    v[t] = values[base + t];
    k[t + 256] = keys[base + t + 256];
    v[t + 256] = values[base + t + 256];
    #pragma unroll 1
    for (unsigned size = 2; size < length; size <<= 1) {
        unsigned d = dir ^ ((t & (size / 2)) != 0);
        #pragma unroll 1
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned p = 2 * t - (t & (stride - 1));
            compare(k[p], v[p], k[p + stride], v[p + stride], d);
        }
    }
    #pragma unroll 1
    for (unsigned stride = length / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned p = 2 * t - (t & (stride - 1));
        compare(k[p], v[p], k[p + stride], v[p + stride], dir);
    }
    __syncthreads();
    keys[base + t] = k[t];
    values[base + t] = v[t];
    keys[base + t + 256] = k[t + 256];
    values[base + t + 256] = v[t + 256];
}
