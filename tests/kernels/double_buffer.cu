//@ verdict: verified
//@ block: 128
//@ grid: 64
// The next tile is loaded while the current one is used, one barrier a round.

extern "C" __global__ void double_buffer(int n, const float *in, float *out) {
    __shared__ float s[2][128];
    int t = threadIdx.x;
    float acc = 0.0f;
    s[0][t] = in[t];
    __syncthreads();
    #pragma unroll 1
    for (int k = 0; k < n; k++) {
        s[(k + 1) & 1][t] = in[(k + 1) * 128 + t];
        acc += s[k & 1][127 - t];
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = acc;
}
