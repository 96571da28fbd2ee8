//@ verdict: verified
//@ block: 256
//@ grid: 64
//@ compiler: clang
// Gather through a read-only index array.

extern "C" __global__ void gather(const int *idx, const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[idx[i]];
}
