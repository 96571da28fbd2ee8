//@ verdict: race
//@ block: 64
//@ grid: 8
// No round races with itself; a fast thread is a round ahead of a slow one.

extern "C" __global__ void different_rounds(int n, int *a) {
    int t = blockIdx.x * 64 + threadIdx.x;
    #pragma unroll 1
    for (int k = 0; k < n; k++) a[t + k] = k;  // RACE
}
