//@ verdict: verified
//@ block: 256
//@ grid: 64
// A neighbour is read only where it exists; the update waits for all reads.

extern "C" __global__ void short_circuit(const int *in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t] = in[g];
    __syncthreads();
    bool drop = t > 0 && s[t - 1] > in[g];
    __syncthreads();
    if (drop) s[t] = 0;
    out[g] = s[t];
}
