//@ verdict: verified
//@ block: 64
//@ grid: 64
//@ param: n=9
// Double buffer whose last round always uses buffer 0; with 9 rounds that is right.

extern "C" __global__ void last_round(int n, const float *in, float *out) {
    __shared__ float s[2][64];
    int t = threadIdx.x;
    float acc = 0.0f;
    #pragma unroll 1
    for (int k = 0; k < n; k++) {
        int slot = k == n - 1 ? 0 : k & 1;
        s[slot][t] = in[k * 64 + t];
        __syncthreads();
        acc += s[slot][63 - t];
    }
    out[blockIdx.x * 64 + t] = acc;
}
