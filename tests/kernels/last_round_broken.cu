//@ verdict: race
//@ block: 64
//@ grid: 64
//@ param: n=8
// With 8 rounds the last two rounds use the same buffer.

extern "C" __global__ void last_round(int n, const float *in, float *out) {
    __shared__ float s[2][64];
    int t = threadIdx.x;
    float acc = 0.0f;
    #pragma unroll 1
    for (int k = 0; k < n; k++) {
        int slot = k == n - 1 ? 0 : k & 1;
        s[slot][t] = in[k * 64 + t];  // RACE
        __syncthreads();
        acc += s[slot][63 - t];  // RACE
    }
    out[blockIdx.x * 64 + t] = acc;
}
