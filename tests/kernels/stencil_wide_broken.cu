//@ verdict: race
//@ block: 256
//@ grid: 64
// Broken: no barrier before the neighbours are read.

extern "C" __global__ void stencil_wide_broken(float *out, const float *in, long long n) {
    __shared__ float tile[258];
    long long t = threadIdx.x, i = (long long)blockIdx.x * blockDim.x + t;
    tile[t + 1] = i < n ? in[i] : 0;  // RACE
    if (t == 0)
        tile[0] = i > 0 ? in[i - 1] : 0;
    if (t == blockDim.x - 1)
        tile[t + 2] = i + 1 < n ? in[i + 1] : 0;
    if (i < n)
        out[i] = tile[t] + tile[t + 1] + tile[t + 2];  // RACE
}
