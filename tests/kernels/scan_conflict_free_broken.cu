//@ verdict: race
//@ block: 128
//@ grid: 64
// No barrier at the head of the down-sweep.

#define PAD(n) ((n) + ((n) >> 5))
extern "C" __global__ void scan_conflict_free(float *out, const float *in) {
    __shared__ float s[PAD(256)];
    int t = threadIdx.x, base = blockIdx.x * 256;
    int a = t, b = t + 128;
    s[PAD(a)] = in[base + a];
    s[PAD(b)] = in[base + b];
    int offset = 1;
    #pragma unroll 1
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            s[PAD(j)] += s[PAD(i)];  // RACE
        }
        offset <<= 1;
    }
    if (t == 0) s[PAD(255)] = 0;  // RACE
    #pragma unroll 1
    for (int d = 1; d < 256; d <<= 1) {
        offset >>= 1;
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            float x = s[PAD(i)];  // RACE
            s[PAD(i)] = s[PAD(j)];  // RACE
            s[PAD(j)] += x;  // RACE
        }
    }
    __syncthreads();
    out[base + a] = s[PAD(a)];
    out[base + b] = s[PAD(b)];
}
