//@ verdict: verified
//@ block: 256
//@ grid: 64
// A sum of three neighbours by way of shared memory with a halo, all indices of 64 bits.

extern "C" __global__ void stencil_wide(float *out, const float *in, long long n) {
    __shared__ float tile[258];
    long long t = threadIdx.x, i = (long long)blockIdx.x * blockDim.x + t;
    tile[t + 1] = i < n ? in[i] : 0;
    if (t == 0)
        tile[0] = i > 0 ? in[i - 1] : 0;
    if (t == blockDim.x - 1)
        tile[t + 2] = i + 1 < n ? in[i + 1] : 0;
    __syncthreads();
    if (i < n)
        out[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
