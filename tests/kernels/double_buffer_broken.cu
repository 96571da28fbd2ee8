//@ verdict: race
//@ block: 128
//@ grid: 64
// The load goes into the buffer in use.

extern "C" __global__ void double_buffer(int n, const float *in, float *out) {
    __shared__ float s[2][128];
    int t = threadIdx.x;
    float acc = 0.0f;
    s[0][t] = in[t];
    __syncthreads();
    #pragma unroll 1
    for (int k = 0; k < n; k++) {
        s[k & 1][t] = in[(k + 1) * 128 + t];  // RACE
        acc += s[k & 1][127 - t];  // RACE
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = acc;
}
