//@ verdict: verified
//@ block: 16
//@ grid: 1
// The diagonal tile of an LU factorisation, one row and one column a round.

extern "C" __global__ void lu_diagonal(float *m, int offset) {
    __shared__ float s[16][16];
    int t = threadIdx.x;
    #pragma unroll 1
    for (int i = 0; i < 16; i++) s[i][t] = m[offset + i * 512 + t];
    __syncthreads();
    #pragma unroll 1
    for (int i = 0; i < 15; i++) {
        if (t > i) {
            float x = s[t][i];
            #pragma unroll 1
            for (int j = 0; j < i; j++) x -= s[t][j] * s[j][i];
            s[t][i] = x / s[i][i];
        }
        __syncthreads();
        if (t > i) {
            float x = s[i + 1][t];
            #pragma unroll 1
            for (int j = 0; j < i + 1; j++) x -= s[i + 1][j] * s[j][t];
            s[i + 1][t] = x;
        }
        __syncthreads();
    }
    #pragma unroll 1
    for (int i = 1; i < 16; i++) m[offset + i * 512 + t] = s[i][t];
}
