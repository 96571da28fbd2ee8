//@ verdict: race
//@ block: 256
//@ grid: 64
// The buffers are never exchanged.

extern "C" __global__ void scan_double_buffer(const int *in, int *out) {
    __shared__ int s[2][256];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    int from = 0, to = 0;
    s[0][t] = in[g];
    __syncthreads();
    #pragma unroll 1
    for (int d = 1; d < 256; d <<= 1) {
        int v = s[from][t];
        if (t >= d) v += s[from][t - d];  // RACE
        s[to][t] = v;  // RACE
        __syncthreads();
        from = to;
    }
    out[g] = s[from][t];
}
