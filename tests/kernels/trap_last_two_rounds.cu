//@ verdict: race
//@ block: 64
//@ grid: 8
// The buffer of the last round has the wrong parity when n is even; all others are right.

extern "C" __global__ void last_two_rounds(int n, int *a) {
    __shared__ int s[2][64];
    int t = threadIdx.x;
    int acc = 0;
    #pragma unroll 1
    for (int k = 0; k < n; k++) {
        int slot = k + 1 == n ? 0 : k & 1;
        s[slot][t] = acc + k;  // RACE
        __syncthreads();
        acc += s[slot][63 - t];  // RACE
    }
    a[blockIdx.x * 64 + t] = acc;
}
