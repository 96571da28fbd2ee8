//@ verdict: race
//@ block: 256
//@ grid: 64
// No barrier between clearing the bins and counting.

extern "C" __global__ void histogram_shared(const unsigned char *data, int n, int *out) {
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0;  // RACE
    for (int i = blockIdx.x * 256 + t; i < n; i += 256 * gridDim.x)
        atomicAdd(&bins[data[i]], 1);  // RACE
    __syncthreads();
    atomicAdd(&out[t], bins[t]);
}
