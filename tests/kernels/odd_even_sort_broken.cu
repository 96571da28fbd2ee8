//@ verdict: race
//@ block: 128
//@ grid: 64
// Threads step by one, so neighbours share an element.

extern "C" __global__ void odd_even_sort(int *d) {
    __shared__ int s[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    s[t] = d[base + t];
    s[t + 128] = d[base + t + 128];
    __syncthreads();
    #pragma unroll 1
    for (int round = 0; round < 256; round++) {
        int i = t + (round & 1);
        if (i + 1 < 256) {
            int a = s[i], b = s[i + 1];  // RACE
            if (a > b) s[i] = b, s[i + 1] = a;  // RACE
        }
        __syncthreads();
    }
    d[base + t] = s[t];
    d[base + t + 128] = s[t + 128];
}
