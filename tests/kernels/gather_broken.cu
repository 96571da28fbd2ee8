//@ verdict: race
//@ block: 256
//@ grid: 64
//@ compiler: clang
// Scatter: two threads may be given the same index.

extern "C" __global__ void gather(const int *idx, const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[idx[i]] = x[i];  // RACE
}
