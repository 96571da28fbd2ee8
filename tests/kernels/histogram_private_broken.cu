//@ verdict: race
//@ block: 64
//@ grid: 32
// Bins of neighbouring threads overlap by one.

extern "C" __global__ void histogram_private(const unsigned char *data, int *out) {
    __shared__ int bins[64 * 16];
    int t = threadIdx.x;
    for (int b = 0; b < 16; b++) bins[t * 16 + b] = 0;
    __syncthreads();
    #pragma unroll 1
    for (int k = 0; k < 32; k++) {
        int v = data[(blockIdx.x * 32 + k) * 64 + t] & 15;
        bins[t * 15 + v]++;  // RACE
    }
    __syncthreads();
    if (t < 16) {
        int sum = 0;
        for (int k = 0; k < 64; k++) sum += bins[k * 16 + t];
        out[blockIdx.x * 16 + t] = sum;
    }
}
