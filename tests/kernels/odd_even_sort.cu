//@ verdict: verified
//@ block: 128
//@ grid: 64
// Odd-even transposition sort of 256 elements by 128 threads.

extern "C" __global__ void odd_even_sort(int *d) {
    __shared__ int s[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    s[t] = d[base + t];
    s[t + 128] = d[base + t + 128];
    __syncthreads();
    #pragma unroll 1
    for (int round = 0; round < 256; round++) {
        int i = 2 * t + (round & 1);
        if (i + 1 < 256) {
            int a = s[i], b = s[i + 1];
            if (a > b) s[i] = b, s[i + 1] = a;
        }
        __syncthreads();
    }
    d[base + t] = s[t];
    d[base + t + 128] = s[t + 128];
}
