//@ verdict: verified
//@ block: 256
//@ grid: 64
// Full bitonic sort of 256 elements in shared memory.

extern "C" __global__ void bitonic_sort(int *d) {
    __shared__ int s[256];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t] = d[g];
    __syncthreads();
    #pragma unroll 1
    for (int k = 2; k <= 256; k <<= 1) {
        #pragma unroll 1
        for (int j = k >> 1; j > 0; j >>= 1) {
            int p = t ^ j;
            if (p > t) {
                int a = s[t], b = s[p];
                if (((t & k) == 0) == (a > b)) s[t] = b, s[p] = a;
            }
            __syncthreads();
        }
    }
    d[g] = s[t];
}
