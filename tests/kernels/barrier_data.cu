//@ verdict: verified
//@ block: 128
//@ grid: 64
// Loaded values choose what is computed, not who waits.

extern "C" __global__ void barrier_data(const int *in, int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    s[t] = in[g];
    if (in[g] > 0) {
        s[t] *= 2;
    }
    __syncthreads();
    out[g] = s[127 - t];
}
