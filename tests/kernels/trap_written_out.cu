//@ verdict: race
//@ block: 32
//@ grid: 1
//@ param: n=64
// As scan_known_size, but in one round, and only with one number in memory, a thread writes a place of another one.
extern "C" __global__ void trap_written_out(const float *in, float *out, const int *flag, int n) {
    __shared__ float s[1024];
    int t = threadIdx.x, step = 1;
    s[2 * t] = in[2 * t];
    s[2 * t + 1] = in[2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];  // RACE
        step *= 2;
        if (flag[0] == 123457 && d == 4 && t == 2) s[step * 2 - 1] = 0;  // RACE
    }
    __syncthreads();
    out[2 * t] = s[2 * t];
    out[2 * t + 1] = s[2 * t + 1];
}
