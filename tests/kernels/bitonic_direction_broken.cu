//@ verdict: race
//@ block: 256
//@ grid: 16
//@ param: length=512
// No barrier between the strides.

__device__ inline void compare(unsigned &ka, unsigned &va, unsigned &kb, unsigned &vb, unsigned dir) {
    if ((ka > kb) == dir) {  // RACE
        unsigned t = ka;  // RACE
        ka = kb; kb = t;  // RACE
        t = va; va = vb; vb = t;  // RACE
    }
}

extern "C" __global__ void bitonic_direction(unsigned *keys, unsigned *values, unsigned length, unsigned dir) {
    __shared__ unsigned k[512], v[512];
    unsigned t = threadIdx.x, base = blockIdx.x * 512;
    k[t] = keys[base + t];  // RACE
    v[t] = values[base + t];  // RACE
    k[t + 256] = keys[base + t + 256];  // RACE
    v[t + 256] = values[base + t + 256];  // RACE
    #pragma unroll 1
    for (unsigned size = 2; size < length; size <<= 1) {
        unsigned d = dir ^ ((t & (size / 2)) != 0);
        #pragma unroll 1
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
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
