//@ verdict: verified
//@ block: 32
//@ grid: 4
//@ param: n=64
//@ param: tiles=3
// As scan_known_size, of some tiles. In a block that has none, registers keep what they held before, which nobody knows; the
// numbers of rounds depend on that in no execution.
extern "C" __global__ void scan_known_tiles(const float *in, float *out, int n, int tiles) {
    __shared__ float s[1024];
    if (blockIdx.x >= tiles) return;
    in += blockIdx.x * n;
    out += blockIdx.x * n;
    int t = threadIdx.x, step = 1;
    s[2 * t] = in[2 * t];
    s[2 * t + 1] = in[2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
        step *= 2;
    }
    if (t == 0) s[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        step >>= 1;
        __syncthreads();
        if (t < d) {
            int left = step * (2 * t + 1) - 1, right = step * (2 * t + 2) - 1;
            float v = s[left];
            s[left] = s[right];
            s[right] += v;
        }
    }
    __syncthreads();
    out[2 * t] = s[2 * t];
    out[2 * t + 1] = s[2 * t + 1];
}
