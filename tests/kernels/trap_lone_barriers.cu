//@ verdict: race
//@ block: 64
//@ grid: 8
// Only odd threads pass barriers, n of them. With n = 0 nobody waits and nobody
// diverges, and no barrier may have cleared the stores.

extern "C" __global__ void lone_barriers(int n, int *a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    s[t] = a[g];  // RACE
    int rounds = (t & 1) ? n : 0;
    #pragma unroll 1
    for (int k = 0; k < rounds; k++) __syncthreads(); // DIVERGENCE
    a[g] = s[t ^ 1];  // RACE
}
