//@ verdict: divergence
//@ block: 128
//@ grid: 64
// A loaded value decides who waits.

extern "C" __global__ void barrier_data(const int *in, int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    s[t] = in[g];
    if (in[g] > 0) {
        s[t] *= 2;
        __syncthreads();  // DIVERGENCE
    }
    out[g] = s[t];
}
