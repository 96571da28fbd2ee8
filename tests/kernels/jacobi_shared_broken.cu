//@ verdict: race
//@ block: 128
//@ grid: 64
// No barrier after the update: the next round reads too early.

extern "C" __global__ void jacobi_shared(float *a, int rounds) {
    __shared__ float s[130];
    int t = threadIdx.x;
    int g = blockIdx.x * 128 + t;
    s[t + 1] = a[g];
    if (t < 2) s[t * 129] = 0.0f;
    __syncthreads();
    #pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        float v = 0.5f * (s[t] + s[t + 2]);  // RACE
        __syncthreads();
        s[t + 1] = v;  // RACE
    }
    a[g] = s[t + 1];
}
