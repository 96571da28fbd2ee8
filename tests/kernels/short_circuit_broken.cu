//@ verdict: race
//@ block: 256
//@ grid: 64
// No barrier between the reads and the update.

extern "C" __global__ void short_circuit(const int *in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t] = in[g];
    __syncthreads();
    bool drop = t > 0 && s[t - 1] > in[g];  // RACE
    if (drop) s[t] = 0;  // RACE
    out[g] = s[t];
}
