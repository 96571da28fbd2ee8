//@ verdict: verified
//@ block: 256
//@ grid: 64
// Hillis-Steele scan in place, two barriers a round.

extern "C" __global__ void scan_two_barriers(const int *in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t] = in[g];
    __syncthreads();
    #pragma unroll 1
    for (int d = 1; d < 256; d <<= 1) {
        int v = 0;
        if (t >= d) v = s[t - d];
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    out[g] = s[t];
}
