//@ verdict: race
//@ block: 64
//@ grid: 8
// The store after the loop meets reads of the last round.

extern "C" __global__ void after_loop(int n, int *a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    int acc = 0;
    s[t] = a[g];
    #pragma unroll 1
    for (int k = 0; k < n; k++) {
        __syncthreads();
        acc += s[(t + k) & 63];  // RACE
    }
    s[t] = acc;  // RACE
    a[g] = acc + s[t];
}
